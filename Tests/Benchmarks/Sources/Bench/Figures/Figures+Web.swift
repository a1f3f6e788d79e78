import CMeasure
import Hummingbird
import Logging
import Measure
import Subjects
import Waybill
import WaybillEventLoop
import WaybillHTTP

extension Figures {
    /// A server of Hummingbird, whose gateway and whose plain handler are asked for the same JSON by a client in
    /// C.
    static func web() throws -> [Figure] {
        let server = WebOffice(in: try SocketFolder())
        let (gateway, plain) = ("/bus/app/user/profile?uid=7", "/profile?uid=7")
        return [
            Figure(
                "http.call-32",
                must: .ratio(1 / 0.7),
                goal: .ratio(1 / 0.9),
                subject: Subject("a call through the gateway, 32 at a time") {
                    try await server.calls(gateway, $0, inFlight: 32)
                },
                peer: Subject("a handler of Hummingbird") {
                    try await server.calls(plain, $0, inFlight: 32)
                }
            ),
            Figure(
                "http.call",
                subject: Subject("one call after the other") { try await server.calls(gateway, $0) },
                peer: Subject("a handler of Hummingbird") { try await server.calls(plain, $0) }
            ),
        ]
    }
}

/// What both answer with.
private struct Profile: ResponseCodable, Sendable {
    var uid: Int
    var name = "Lili"
}

/// A bus behind a gateway, and a plain handler beside it.
private actor WebOffice {
    private let folder: SocketFolder
    private let path: String
    private var descriptors: [Int32] = []
    private var isOpen = false

    init(in folder: SocketFolder) {
        self.folder = folder
        self.path = folder.path("web")
    }

    /// Calls over connections that are kept, one at a time over each.
    func calls(_ target: String, _ count: Int, inFlight: Int = 1) async throws -> UInt64 {
        try await self.open()
        while self.descriptors.count < inFlight {
            // The path is copied.
            let descriptor = unsafe measure_unix_connect(self.path)
            if descriptor < 0 { throw ConnectionFailure() }
            self.descriptors.append(descriptor)
        }
        let request = "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        // All are read in the call only, and there are as many descriptors as it says.
        let time = unsafe measure_web_calls(
            self.path,
            &self.descriptors,
            inFlight,
            request,
            "{",
            UInt64(count)
        )
        if time == 0 { throw ConnectionFailure() }
        return time
    }

    private func open() async throws {
        if self.isOpen { return }
        let office = try Office(on: EventLoop.quiet("office"))
        try office.bus.register("app://user/profile") { message -> Profile in
            Profile(uid: try message.parameters.require("uid"))
        }
        try office.bus.expose("app://user/profile", for: .reads)
        let router = Router()
        router.addRoutes(WaybillGateway(office.bus).routes, atPath: "/bus")
        router.get("profile") { request, _ in
            Profile(uid: try request.uri.queryParameters.require("uid", as: Int.self))
        }
        let (states, isRunning) = AsyncStream.makeStream(of: Void.self)
        let application = Application(
            router: router,
            configuration: .init(address: .unixDomainSocket(path: self.path)),
            onServerRunning: { _ in isRunning.finish() },
            logger: Logger(label: "benchmarks") { _ in SwiftLogNoOpLogHandler() }
        )
        Task.detached { try await application.run() }
        for await _ in states {}
        self.isOpen = true
    }
}

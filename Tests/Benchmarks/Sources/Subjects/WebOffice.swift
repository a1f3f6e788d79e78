internal import CMeasure
internal import Hummingbird
internal import Logging
internal import Waybill
public import WaybillEventLoop
internal import WaybillHTTP

/// A server of Hummingbird with a gateway and a plain handler, and a client in C.
public actor WebOffice {
    /// The path that the gateway answers.
    public static let gateway = "/bus/app/user/profile?uid=7"
    /// The path that the plain handler answers with the same JSON.
    ///
    /// The path has the same number of segments, because a router takes time for each.
    public static let plain = "/api/app/user/profile?uid=7"

    /// The path of a handler that routes on the bus.
    public static let routed = "/api/app/user/routed?uid=7"

    private let office: Office
    private let path: String
    private var descriptors: [Int32] = []
    private var isOpen = false

    /// Creates an office.
    ///
    /// - Parameters:
    ///   - loop: The loop of the bus.
    ///   - path: The socket at which the server listens after the first call.
    /// - Throws: The error of a registration.
    public init(on loop: EventLoop, at path: String) throws {
        self.office = try Office(on: loop)
        self.path = path
        try self.office.bus.register("app://user/profile") { message -> Profile in
            Profile(uid: try message.parameters.require("uid"))
        }
        try self.office.bus.expose("app://user/profile", for: .reads)
    }

    /// Makes calls over kept connections, one at a time over each.
    ///
    /// - Returns: The total time of the calls in nanoseconds.
    public func calls(_ target: String, _ count: Int, inFlight: Int = 1) async throws -> UInt64 {
        try await self.open()
        while self.descriptors.count < inFlight {
            // The C function copies the path.
            let descriptor = unsafe measure_unix_connect(self.path)
            if descriptor < 0 { throw ConnectionFailure() }
            self.descriptors.append(descriptor)
        }
        let request = "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        // The C function uses the pointers only during the call, and each array has as many elements as the
        // passed count.
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
        let router = Router()
        router.addRoutes(WaybillGateway(self.office.bus).routes, atPath: "/bus")
        router.get("api/app/user/profile") { request, _ in
            Profile(uid: try request.uri.queryParameters.require("uid", as: Int.self))
        }
        let bus = self.office.bus
        router.get("api/app/user/routed") { request, _ -> Profile in
            let uid = try request.uri.queryParameters.require("uid", as: Int.self)
            return try await bus.route("app://user/profile?uid=\(uid)")
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

/// The answer of both handlers.
private struct Profile: ResponseCodable, Sendable {
    var uid: Int
    var name = "Lili"
}

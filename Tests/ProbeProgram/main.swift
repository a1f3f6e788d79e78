// A server that tests kill, and a generated client whose memory tests measure.
//
//   ProbeProgram serve SOCKET PORT        serves two routes until it is killed, and prints its port
//   ProbeProgram growth ADDRESS COUNT     calls a route over a Unix socket or HTTP, and prints by how many bytes the
//                                         process has grown after the first fifth of the calls
#if HTTP && Macros && Serve && Web
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Waybill
import WaybillEventLoop
import WaybillHTTP
import WaybillServe
import WaybillWeb

let logger = Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() }
var configuration = MessageBus.Configuration()
configuration.logger = logger
let bus = MessageBus(eventLoop: EventLoop(name: "probe"), configuration: configuration)
let arguments = CommandLine.arguments
guard arguments.count == 4, let number = Int(arguments[3]) else {
    fatalError("usage: ProbeProgram serve SOCKET PORT, or ProbeProgram growth ADDRESS COUNT")
}
if arguments[1] == "serve" {
    try await serve(at: arguments[2], port: number)
} else {
    try await measure(arguments[2], count: number)
}

func serve(at socket: String, port: Int) async throws {
    try bus.register("app://probe/trace") { message in message.headers["traceparent"] ?? "" }
    try bus.expose("app://probe/trace")
    try bus.expose("app://news/:topic", for: [.publishing, .subscribing])
    var settings = RPCServer.Configuration()
    settings.logger = logger
    let router = Router()
    let gateway = WaybillGateway(bus, configuration: WaybillGateway.Configuration(logger: logger))
    router.addRoutes(gateway.routes, atPath: "/bus")
    let application = Application(
        router: router,
        configuration: .init(address: .hostname("127.0.0.1", port: port)),
        onServerRunning: { server in
            print(server.localAddress?.port ?? 0)
            fflush(nil)
        },
        logger: logger
    )
    let server = RPCServer(bus, listening: .unix(socket), configuration: settings)
    try await ServiceGroup(services: [server, application], logger: logger).run()
}

func measure(_ address: String, count: Int) async throws {
    let client =
        address.hasPrefix("http")
        ? try ProbeClient(GatewayConnector(address), on: bus)
        : try ProbeClient(RPCConnector(.unix(address)), on: bus)
    var before = 0
    for call in 0..<count {
        if call == count / 5 { before = try residentBytes() }
        guard try await client.probe.trace(options: .init(headers: ["traceparent": "\(call)"])) == "\(call)"
        else {
            fatalError("another reply")
        }
    }
    print(try residentBytes() - before)
}

func residentBytes() throws -> Int {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
    return (Int(pages) ?? 0) * 4096
}
#endif

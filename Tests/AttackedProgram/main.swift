// The server that `.ci/attacks` attacks: AttackedProgram FOLDER [NATS-SERVER]. It listens in the folder at
// three Unix sockets: `rpc`, `token` (which requires the token "secret") and `http`. It prints a line when it
// listens.
#if HTTP && Serve
import Hummingbird
import Logging
import ServiceLifecycle
import Waybill
import WaybillEventLoop
import WaybillHTTP
import WaybillNATS
import WaybillServe

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

let folder = CommandLine.arguments[1]
let logger = Logger(label: "attacked") { _ in SwiftLogNoOpLogHandler() }
var configuration = MessageBus.Configuration()
configuration.logger = logger
let bus = MessageBus(eventLoop: EventLoop(name: "attacked"), configuration: configuration)

try bus.register("app://attack/honest") { _ in "ok" }
let large = String(repeating: "x", count: 12_000)
try bus.register("app://attack/large") { _ in large }
try bus.register("app://attack/slow") { _ async throws -> String in
    try await Task.sleep(for: .milliseconds(20))
    return large
}
try bus.register("app://attack/echo") { message in message.parameters["text"] ?? "" }
// A subscriber makes each publication cause work.
try bus.subscribe("app://attack/news/**") { _ in }
for route in ["honest", "large", "slow", "echo"] { try bus.expose("app://attack/\(route)", for: .all) }
for topics in ["news", "quiet"] {
    try bus.expose("app://attack/\(topics)/**", for: [.publishing, .subscribing])
}

func server(_ name: String, token: String? = nil) -> RPCServer {
    var configuration = RPCServer.Configuration()
    configuration.logger = logger
    configuration.token = token
    return RPCServer(bus, listening: .unix("\(folder)/\(name)"), configuration: configuration)
}

var gateway = WaybillGateway.Configuration()
gateway.logger = logger
let router = Router()
router.addRoutes(WaybillGateway(bus, configuration: gateway).routes, atPath: "/bus")
var services: [any Service] = [server("rpc"), server("token", token: "secret")]
services.append(
    Application(
        router: router,
        configuration: .init(address: .unixDomainSocket(path: "\(folder)/http")),
        onServerRunning: { _ in
            print("listening")
            fflush(nil)
        },
        logger: logger
    )
)
#if NATS
if CommandLine.arguments.count > 2 {
    var configuration = ClusterNode.Configuration()
    configuration.name = "attacked"
    configuration.logger = logger
    try bus.share("app://attack/**", for: .all)
    services.append(
        bus.join(
            NATSTransport(servers: [CommandLine.arguments[2]], realm: "attack"),
            configuration: configuration
        )
    )
}
#endif
try await ServiceGroup(services: services, logger: logger).run()
#endif

#if NATS
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATS
import WaybillNATSTestSupport
import WaybillTestSupport

/// The thread of a connection that sends.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct NATSConnectionTests {
    @Test(arguments: [IdlePolicy.park, .spin(for: .microseconds(100)), .spin(for: .seconds(3600))])
    func `a thread that sends may sleep or look for more`(policy: IdlePolicy) async throws {
        let server = try await NATSServer()
        defer { server.stop() }
        let (near, far) = (MessageBus(configuration: .quiet), MessageBus(configuration: .quiet))
        try far.share("app://far/**")
        try far.register("app://far/:n") { message -> Int in try message.parameters.require("n") }
        var runs: [Task<Void, any Error>] = []
        for bus in [near, far] {
            let node = bus.join(NATSTransport(servers: [server.url], realm: "test", idlePolicy: policy))
            try await node.start()
            runs.append(
                Task {
                    try await withTaskCancellationHandler {
                        try await node.run()
                    } onCancel: {
                        node.beginGracefulShutdown()
                    }
                }
            )
        }
        #expect(await eventually { near.canRoute("app://far/1") })
        for number in 0..<100 {
            #expect(try await near.route("app://far/\(number)", as: Int.self) == number)
            // Longer than it looks.
            if number % 10 == 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
        for run in runs {
            run.cancel()
            try await run.value
        }
        await near.shutDown()
        await far.shutDown()
    }
}
#endif

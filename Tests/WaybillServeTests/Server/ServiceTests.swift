#if Serve
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

@Suite(.timeLimit(.minutes(1)))
struct ServiceTests {
    @Test
    func `a service group with a server waits for requests in flight, and closes the connections`()
        async throws
    {
        try await withFolder { folder in
            let bus = MessageBus(configuration: .quiet)
            let gate = Gate()
            try bus.register("app://slow") { _ -> Int in
                await gate.wait()
                return 1
            }
            try bus.expose("app://slow")
            let server = RPCServer(bus, listening: .unix(folder + "/socket"), configuration: .quiet)
            let address = try await server.start()
            try await testGracefulShutdown { trigger in
                let running = Task { try await server.run() }
                let loop = bus.eventLoop
                let client = RawClient(try await StreamConnection.connect(to: address, on: loop))
                try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://slow"}"#)
                await gate.reached()
                trigger.triggerGracefulShutdown()
                gate.open()
                #expect(try await client.line() == #"{"jsonrpc":"2.0","id":1,"result":1}"#)
                #expect(await client.isClosed())
                try await running.value
            }
            #expect(server.statistics.answers == 1 && server.statistics.abandoned == 0)
            await bus.shutDown()
        }
    }
}
#endif

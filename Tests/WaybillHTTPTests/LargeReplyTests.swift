#if HTTP
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing
import Waybill
import WaybillHTTP
import WaybillTestSupport

/// Replies that do not fit in the buffers of a connection.
@Suite(.timeLimit(.minutes(1)))
struct LargeReplyTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test
    func `a large reply counts until it is read, and a client that reads nothing is disconnected`()
        async throws
    {
        let large = String(repeating: "x", count: 64 << 20)
        try self.bus.register("app://nothing") { _ in }
        try self.bus.expose("app://nothing")
        try self.bus.register("app://large") { _ in large }
        try self.bus.expose("app://large", for: .reads)
        var configuration = WaybillGateway.Configuration.quiet
        configuration.callLimit = 1
        configuration.stallTime = .milliseconds(200)
        try await GatewayServer.run(self.bus, configuration) { server in
            let stalled = try await server.open(.GET, "app/large")
            #expect(stalled.headers.first(name: "Content-Length") == "\(large.utf8.count + 2)")
            #expect(try await server.send(.POST, "app/nothing").status == 429)
            #expect(try await eventually { try await server.send(.POST, "app/nothing").status == 204 })
            await #expect(throws: (any Error).self) { try await stalled.body.collect(upTo: .max) }
            // A client that reads receives the whole reply.
            let answer = try await server.open(.GET, "app/large")
            let body = try await answer.body.collect(upTo: large.utf8.count + 2)
            #expect(body.readableBytes == large.utf8.count + 2)
        }
    }
}
#endif

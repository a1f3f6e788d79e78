#if HTTP
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing
import Waybill
import WaybillTestSupport

@testable import WaybillHTTP

/// Replies that do not fit in the buffers of a connection.
@Suite(.timeLimit(.minutes(1)))
struct LargeReplyTests {
    private let bus = MessageBus(configuration: .quiet)

    /// The size of a reply that does not fit in the buffers of the system and of both programs, in bytes.
    private static let size = 32 << 20

    init() throws {
        let large = String(repeating: "x", count: Self.size - 2)
        try self.bus.register("app://large") { _ in large }
        try self.bus.register("app://progress") { message async -> String in
            await message.reply(with: large)
            return "small"
        }
        try self.bus.register("app://small") { _ in "small" }
        for pattern in ["app://large", "app://progress", "app://small"] {
            try self.bus.expose(pattern, for: .reads)
        }
    }

    @Test
    func `an unread reply keeps other large replies out, but no small ones`() async throws {
        var configuration = WaybillGateway.Configuration.quiet
        configuration.callBytes = Self.size * 3 / 2
        try await GatewayServer.run(self.bus, configuration) { server in
            var unread: HTTPClientResponse? = try await server.open(.GET, "app/large")
            #expect(unread?.headers.first(name: "Content-Length") == "\(Self.size)")
            #expect(try await server.send(.GET, "app/large").status == 429)
            let events = try await server.events(.POST, "app/large")
            let event = try await events.next()
            #expect(event?.name == "failure" && event?.data.contains("unread replies") == true)
            let progress = try await server.events(.POST, "app/progress")
            let refused = try await progress.next()
            #expect(refused?.name == "failure" && refused?.data.contains("unread replies") == true)
            #expect(try await server.send(.GET, "app/small").status == 200)
            // The place is free when the reply has been read.
            let body = try await unread?.body.collect(upTo: Self.size)
            #expect(body?.readableBytes == Self.size)
            unread = nil
            #expect(try await eventually { try await server.open(.GET, "app/large").status == .ok })
        }
    }

    @Test
    func `a client that reads nothing of a large reply is disconnected`() async throws {
        var configuration = WaybillGateway.Configuration.quiet
        configuration.callBytes = Self.size * 3 / 2
        configuration.stallTime = .seconds(1)
        try await GatewayServer.run(self.bus, configuration) { server in
            let stalled = try await server.open(.GET, "app/large")
            let isTaken = await eventually { (try? await server.open(.GET, "app/large"))?.status == .ok }
            #expect(isTaken)
            await #expect(throws: (any Error).self) { try await stalled.body.collect(upTo: Self.size) }
        }
    }

    @Test
    func `one reply may exceed the limit, and no client may use more than a half otherwise`() throws {
        let replies = ClientCount(
            of: "unread replies",
            limit: .max,
            perClient: .max,
            byteLimit: 100,
            allowsOneAlone: true
        )
        let alone = try replies.take(for: "10.0.0.1")
        try alone.setBytes(1_000)
        #expect(throws: Problem.self) { try replies.take(for: "10.0.0.2").setBytes(10) }
        try alone.setBytes(30)
        #expect(throws: Problem.self) { try replies.take(for: "10.0.0.1").setBytes(30) }
        let other = try replies.take(for: "10.0.0.2")
        try other.setBytes(60)
        #expect(throws: Problem.self) { try replies.take(for: nil).setBytes(20) }
        withExtendedLifetime((alone, other)) {}
    }
}
#endif

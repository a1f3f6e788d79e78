#if Durable && Serve
import Foundation
import Logging
import Testing
import Waybill
@testable import WaybillDurable
import WaybillEventLoop
import WaybillServe
import WaybillTestSupport

/// Durable messages between two processes, which the tests replace by two buses with a socket between them.
@Suite(.timeLimit(.minutes(1)))
struct DurableReceiverTests {
    private final class LostReply: Middleware {
        let losses: Locked<Int>

        nonisolated(nonsending) func handle(
            _ message: Message,
            context: borrowing MiddlewareContext,
            next: borrowing Next
        ) async throws -> any Sendable {
            let value = try await next(message)
            if message.origin != .local,
                self.losses.withLock({
                    $0 -= 1
                    return $0 >= 0
                })
            {
                throw OrderError.closed
            }
            return value
        }

        init(_ losses: Int) { self.losses = Locked(losses) }
    }

    /// Runs a closure with two stores, each on its bus.
    ///
    /// URLs of the scheme `far` are routed from the near bus to the other one.
    private func withStores(
        isServed: Bool = true,
        _ body: (
            _ near: DurableStore, _ far: DurableStore, _ farBus: MessageBus, _ serve: () async throws -> Void
        ) async throws -> Void
    ) async throws {
        let socket = "/tmp/waybill-\(UInt32.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: socket) }
        try await withStore { far, farBus in
            try farBus.expose("far://**", for: .all)
            var configuration = RPCServer.Configuration()
            configuration.logger = Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
            let server = RPCServer(farBus, listening: .unix(socket), configuration: configuration)
            let task = Locked<Task<Void, any Error>?>(nil)
            func serve() async throws {
                try await server.start()
                task.withLock { $0 = Task { try await server.run() } }
            }
            if isServed { try await serve() }
            try await withStore { near, nearBus in
                var connector = RPCConnector.Configuration()
                connector.firstPause = .milliseconds(1)
                connector.longestPause = .milliseconds(5)
                connector.logger = configuration.logger
                try nearBus.connect("far", to: RPCConnector(.unix(socket), configuration: connector))
                let backoff = Backoff(first: .milliseconds(2), longest: .milliseconds(5))
                try near.setPolicy(DurablePolicy(attempts: 1_000, backoff: backoff), for: "far://**")
                try await nearBus.attach(near)
                try await body(near, far, farBus, serve)
            }
            task.withLock { $0 }?.cancel()
        }
    }

    @Test func `the sender's store keeps a message until the receiver's store has it`() async throws {
        try await self.withStores(isServed: false) { near, far, farBus, serve in
            let seen = Journal<[Int]>()
            try farBus.register("far://work") { seen.add(try $0.argument("list")) }
            try farBus.use(DurableReceiver(far), for: "far://**")
            try await near.send("far://work", parameters: ["list": [1, 2]])
            try await Task.sleep(for: .milliseconds(30))
            #expect(try await far.statistics().waiting == 0)
            #expect(try await near.messages().count == 1)

            try await serve()
            await near.isIdle()
            // The other bus is not attached to its store, so the store only keeps the message.
            #expect(try await far.statistics().waiting == 1)
            #expect(seen.count == 0)
            try await farBus.attach(far)
            await far.isIdle()
            #expect(seen.entries == [[1, 2]])
        }
    }

    @Test func `a message that is delivered again after its reply was lost is handled once`() async throws {
        try await self.withStores { near, far, farBus, _ in
            let seen = Journal<Int>()
            try farBus.register("far://work/:n") { seen.add(try $0.argument("n")) }
            farBus.use(LostReply(5))
            try farBus.use(DurableReceiver(far), for: "far://**")
            try await farBus.attach(far)
            for number in 0..<5 { try await near.send("far://work/\(number)") }
            await near.isIdle()
            await far.isIdle()
            #expect(seen.entries.sorted() == [0, 1, 2, 3, 4])
        }
    }

    @Test func `messages of one order stay in order in the receiver's store, and keep their lifetime`()
        async throws
    {
        try await self.withStores { near, far, farBus, _ in
            let seen = Journal<Int>()
            let failures = Locked(3)
            try farBus.register("far://work/:n") { message in
                let fails = failures.withLock { count in
                    defer { count -= 1 }
                    return count > 0
                }
                if fails { throw OrderError.closed }
                seen.add(try message.argument("n"))
            }
            try farBus.use(DurableReceiver(far), for: "far://**")
            for number in 0..<10 { try await near.send("far://work/\(number)", order: "one") }
            let lifetime = Scale.untilBegun
            try await near.send("far://work/99", lifetime: lifetime)
            await near.isIdle()
            let orders = try await far.messages().map(\.order)
            #expect(orders.count { $0 == "waybill-durable one" } == 10)
            #expect(orders.count { $0 == nil } == 1)
            try await Task.sleep(for: lifetime + .milliseconds(50))
            try await farBus.attach(far)
            await far.isIdle()
            #expect(seen.entries == Array(0..<10))
            #expect(try await far.messages(in: .dead).map(\.code) == ["deadlineExceeded"])
        }
    }

    @Test func `without a receiver's store, the reply of the handler completes the message`() async throws {
        try await self.withStores { near, far, farBus, _ in
            let calls = Locked(0)
            try farBus.register("far://work") { _ in
                if calls.withLock({
                    $0 += 1
                    return $0
                }) < 3 {
                    throw OrderError.closed
                }
            }
            try await near.send("far://work")
            await near.isIdle()
            #expect(calls.withLock { $0 } == 3)
            #expect(try await far.messages().isEmpty)
        }
    }

    @Test func `the value of a durable handler in another process is sent to the return URL`() async throws {
        try await self.withStores { near, far, farBus, _ in
            try farBus.register("far://sum") { _ in 42 }
            try farBus.use(DurableReceiver(far), for: "far://**")
            try await near.send("far://sum#far://result")
            let seen = Journal<Int>()
            try farBus.register("far://result") { seen.add(try $0.payload(as: Int.self)) }
            try await farBus.attach(far)
            await near.isIdle()
            await far.isIdle()
            #expect(seen.entries == [42])
        }
    }

    @Test func `a durable message of a peer cannot reach a URL that is not exposed by a return URL`()
        async throws
    {
        try await withStore { store, bus in
            let wiped = Journal<MessageOrigin>()
            try bus.register("app://echo") { _ in "echo" }
            try bus.register("app://wipe") { wiped.add($0.origin) }
            try bus.expose("app://echo")
            try bus.use(DurableReceiver(store), for: "app://**")
            try await bus.attach(store)
            for url in ["app://echo#app://wipe?all=yes", "app://echo#wipe"] {
                let request = ExternalRequest(
                    url: url,
                    headers: ["waybill-durable": "number"],
                    origin: MessageOrigin(transport: "http")
                )
                let reply = try await bus.route(request)
                #expect(reply.content as? String == "echo")
            }
            #expect(await eventually { bus.statistics.inFlight == 0 })
            #expect(try await store.statistics().commits == 0)
            #expect(wiped.entries.isEmpty)
        }
    }

    @Test func `a peer's publication goes to its subscribers, and is not stored as a call`() async throws {
        try await withStore { store, bus in
            let (seen, cancelled) = (Journal<String>(), Journal<MessageOrigin>())
            try bus.register("app://orders/:id/cancel") { cancelled.add($0.origin) }
            try bus.subscribe("app://orders/**") { seen.add("closure \($0.address.text)") }
            let sequence = try bus.subscription(to: "app://orders/:id/cancel")
            try bus.expose("app://orders/**", for: .publishing)
            try bus.use(DurableReceiver(store), for: "app://orders/**")
            try await bus.attach(store)
            let reader = Task {
                for await message in sequence {
                    seen.add("sequence \(message.address.text)")
                    break
                }
            }
            let request = ExternalRequest(
                url: "app://orders/7/cancel",
                headers: ["waybill-durable": "number"],
                origin: MessageOrigin(transport: "http")
            )
            #expect(try await bus.publish(request) == 2)
            await reader.value
            #expect(
                seen.entries.sorted() == ["closure app://orders/7/cancel", "sequence app://orders/7/cancel"]
            )
            #expect(try await store.statistics().commits == 0)
            #expect(cancelled.entries.isEmpty)
        }
    }

    @Test func `a stored value of a peer does not replace a value in the path of a route that appears later`()
        async throws
    {
        try await withStore { store, bus in
            let ids = Journal<Int>()
            try bus.expose("app://user/**", for: .calls)
            try bus.use(DurableReceiver(store), for: "app://user/**")
            let request = ExternalRequest(
                url: "app://user/1/delete",
                parameters: ["id": 2],
                headers: ["waybill-durable": "number"],
                origin: MessageOrigin(transport: "http")
            )
            _ = try await bus.route(request)
            #expect(try await store.statistics().waiting == 1)
            try bus.register("app://user/:id/delete") { ids.add(try $0.argument("id")) }
            try await bus.attach(store)
            await store.isIdle()
            #expect(ids.entries == [1])
        }
    }

    @Test func `a peer's message does not delay messages of this process with the same order key`()
        async throws
    {
        try await withStore { store, bus in
            let seen = Journal<String>()
            try bus.register("app://:name") { seen.add(try $0.argument("name")) }
            try bus.expose("app://peer", for: .calls)
            try bus.use(DurableReceiver(store), for: "app://**")
            let request = ExternalRequest(
                url: "app://peer",
                headers: [
                    "waybill-durable": "number", "waybill-durable-order": "customer-3",
                    "waybill-durable-lifetime": "3600000",
                ],
                origin: MessageOrigin(transport: "http")
            )
            _ = try await bus.route(request)
            try await store.send("app://local", order: "customer-3")
            #expect(try await store.messages().map(\.state) == [.waiting, .waiting])
            try await bus.attach(store)
            await store.isIdle()
            #expect(seen.entries.sorted() == ["local", "peer"])
        }
    }

    @Test func `a peer's message with an empty number is refused`() async throws {
        try await withStore { store, bus in
            try bus.register("app://work") { _ in Issue.record("the message was handled") }
            try bus.expose("app://work", for: .calls)
            try bus.use(DurableReceiver(store), for: "app://**")
            let request = ExternalRequest(
                url: "app://work",
                headers: ["waybill-durable": ""],
                origin: MessageOrigin(transport: "http")
            )
            let error = await #expect(throws: RoutingError.self) { _ = try await bus.route(request) }
            #expect(error?.code == .invalidParameter)
            #expect(try await store.messages().isEmpty)
        }
    }

    @Test func `the receiver's store keeps the ID of the message that a message answers`() async throws {
        try await withStore { store, bus in
            let ids = Journal<CorrelationID?>()
            try bus.register("app://receipt") { ids.add($0.correlationID) }
            try bus.expose("app://receipt")
            try bus.use(DurableReceiver(store), for: "app://**")
            try await bus.attach(store)
            let id = CorrelationID(rawValue: .max - 7)
            let request = ExternalRequest(
                url: "app://receipt",
                passed: nil,
                headers: ["waybill-durable": "number"],
                correlationID: id,
                from: ExternalRequest.Peer(origin: MessageOrigin(transport: "http"))
            )
            _ = try await bus.route(request)
            await store.isIdle()
            #expect(ids.entries == [id])
        }
    }

    @Test func `a forwarded lifetime does not depend on a wall clock that was set back`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        await (try await DurableStore(path)).close()
        do {
            let database = try Database(path, vfs: nil)
            let ahead = StoreClock.wallTime + 3_600_000
            try database.execute("UPDATE waybill_store SET value = \(ahead) WHERE name = 'clock'")
        }
        let bus = MessageBus(configuration: .quiet)
        let lifetimes = Journal<Int?>()
        try bus.register("far://work") { lifetimes.add(Int($0.headers["waybill-durable-lifetime"] ?? "")) }
        let store = try await DurableStore(path)
        try await bus.attach(store)
        try await store.send("far://work", lifetime: .milliseconds(20_000))
        await store.isIdle()
        await store.close()
        await bus.shutDown()
        #expect(lifetimes.count == 1 && lifetimes.entries.allSatisfy { (1...20_000).contains($0 ?? 0) })
    }
}
#endif

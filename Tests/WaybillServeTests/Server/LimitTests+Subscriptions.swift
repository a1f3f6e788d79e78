import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

extension LimitTests {
    @Test
    func `subscriptions of a connection have a limit`() async throws {
        try await self.withLimits {
            $0.subscriptions = 1
        } _: { served in
            let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"app://a"}}"#
            let lines = try await served.ask(subscribe, subscribe)
            #expect(code(lines[0]) == nil && code(lines[1]) == -32005)
        }
    }

    @Test
    func `subscriptions of all connections have a limit, and ended ones make room`() async throws {
        try await self.withLimits {
            $0.subscriptionsOfAll = 2
        } _: { served in
            let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"app://a"}}"#
            let unsubscribe =
                #"{"jsonrpc":"2.0","id":1,"method":"$/unsubscribe","params":{"subscription":1}}"#
            let clients = [try await served.client(), try await served.client(), try await served.client()]
            var codes: [Int?] = []
            for client in clients {
                try await client.send(subscribe)
                codes.append(code(try await client.line()))
            }
            #expect(codes == [nil, nil, -32005])
            try await clients[0].send(unsubscribe)
            #expect(code(try await clients[0].line()) == nil)
            try await clients[2].send(subscribe)
            #expect(code(try await clients[2].line()) == nil)
            clients[1].connection.close()
            #expect(await eventually { served.server.statistics.openConnections == 2 })
            try await clients[0].send(subscribe)
            #expect(code(try await clients[0].line()) == nil)
            withExtendedLifetime(clients) {}
        }
    }

    /// Returns a client with a subscription whose message 0 fills the buffers of the system.
    private func slowSubscriber(of served: Served) async throws -> RawClient {
        let client = try await served.client()
        try await client.send(
            #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"app://news"}}"#
        )
        _ = try await client.line()
        // The buffers of the system are smaller than this message, so the next ones wait.
        let text = String(repeating: "x", count: 2 << 20)
        try await served.bus.publish("app://news", parameters: ["n": 0, "text": text])
        try await client.receiveSome()
        return client
    }

    /// Expects the message 0 and the last three of ten later messages.
    private func expectLastThree(of lines: [String]) {
        let messages = lines.compactMap { json($0)["params"] as? [String: any Sendable] }
        let numbers = messages.compactMap { ($0["parameters"] as? [String: any Sendable])?["n"] as? Int }
        #expect(numbers == [0, 8, 9, 10])
        // The reader knows how many messages it has missed, and where.
        #expect(messages.map { $0["missed"] as? Int } == [nil, 7, nil, nil])
    }

    @Test
    func `messages for a subscriber that does not read have a limit`() async throws {
        try await self.withLimits {
            $0.messagesPerSubscription = 3
        } _: { served in
            let client = try await self.slowSubscriber(of: served)
            for number in 1...10 { try await served.bus.publish("app://news", parameters: ["n": number]) }
            try await client.send(#"{"jsonrpc":"2.0","id":2,"method":"$/ping"}"#)
            let lines = try await client.lines(5).filter { !$0.contains("pong") }
            self.expectLastThree(of: lines)
        }
    }

    @Test(arguments: [false, true])
    func `messages for a subscriber that does not read have a limit in bytes`(
        isLimitOfAll: Bool
    ) async throws {
        let logged = Journal<String>()
        try await self.withLimits(bus: .logging(to: logged)) {
            if isLimitOfAll { $0.subscriptionBytesOfAll = 350_000 } else { $0.subscriptionBytes = 350_000 }
        } _: { served in
            let client = try await self.slowSubscriber(of: served)
            let publisher = try await served.client()
            let large = String(repeating: "y", count: 100_000)
            for number in 1...10 {
                try await publisher.send(
                    #"{"jsonrpc":"2.0","id":\#(number),"method":"$/publish","params":"#
                        + #"{"url":"app://news","parameters":{"n":\#(number),"text":"\#(large)"}}}"#
                )
                #expect(json(try await publisher.line())["result"] as? Int == 1)
            }
            let lines = try await client.lines(4)
            self.expectLastThree(of: lines)
            // Dropped messages of a slow peer do not fill the log.
            #expect(logged.entries == [])
            // The messages that the peer has read give their memory back.
            for number in 11...13 {
                try await served.bus.publish("app://news", parameters: ["n": number, "text": large])
            }
            #expect(try await client.lines(3).filter { $0.contains("missed") }.isEmpty)
        }
    }

    @Test
    func `subscribing to a pattern that no exposure covers is rejected`() async throws {
        try await withServer { served in
            try served.bus.expose("app://news/**", for: .all)
            let lines = try await served.ask(
                #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"app://secret/:x"}}"#,
                #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"zz://news/:x"}}"#,
                #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"app://:x/today"}}"#
            )
            #expect(lines.map { code($0) } == [-32601, -32601, nil])
        }
    }
}

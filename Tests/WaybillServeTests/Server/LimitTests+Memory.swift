import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillTestSupport

@testable import WaybillServe

// Limits of the bytes that the messages of all connections may have together.
extension LimitTests {
    private static func call(_ url: String, id: Int? = 1, size: Int = 6_000) -> String {
        let text = String(repeating: "x", count: size)
        let id = id.map { #""id":\#($0),"# } ?? ""
        return #"{"jsonrpc":"2.0",\#(id)"method":"\#(url)","params":{"text":"\#(text)"}}"#
    }

    /// Runs `body` with a server that keeps 10,000 bytes of messages, and a handler that answers at once.
    private func withFewBytes(
        _ change: (inout RPCServer.Limits) -> Void = { _ in },
        _ body: (Served) async throws -> Void
    ) async throws {
        try await self.withLimits {
            $0.requestBytesOfAll = 10_000
            change(&$0)
        } _: { served in
            try served.bus.register("app://now") { _ in "now" }
            try await body(served)
        }
    }

    /// Runs `body` with a client that waits for its only call, so that its next messages wait.
    private func withWaitingClient(_ body: (Served, RawClient) async throws -> Void) async throws {
        try await self.withFewBytes {
            $0.guaranteedCalls = 1
            $0.sharedCalls = 0
        } _: { served in
            let client = try await served.client()
            try await client.send(Self.call("app://wait", size: 10))
            try await body(served, client)
        }
    }

    /// Checks that a server has no room for a large message until a connection has closed.
    private func expectFull(_ served: Served, until full: RawClient) async throws {
        let other = try await served.client()
        try await other.send(Self.call("app://now"))
        #expect(code(try await other.line()) == -32005)
        try await other.send(Self.call("app://now", size: 10))
        #expect(try await other.line()?.contains(#""result":"now""#) == true)
        full.connection.close()
        #expect(await eventually { served.server.statistics.openConnections == 1 })
        // The waiting messages of the closed connection are handled when its running call has ended.
        let hasRoom = try await eventually {
            try await other.send(Self.call("app://now"))
            return try await other.line()?.contains(#""result":"now""#) == true
        }
        #expect(hasRoom)
    }

    @Test
    func `bytes of requests in flight have a limit for all connections`() async throws {
        try await self.withFewBytes { served in
            let full = try await served.client()
            try await full.send(Self.call("app://wait"))
            #expect(await eventually { served.bus.statistics.inFlight == 1 })
            try await self.expectFull(served, until: full)
        }
    }

    @Test
    func `bytes of waiting notifications have a limit for all connections`() async throws {
        try await self.withWaitingClient { served, full in
            try await full.send(Self.call("app://now", id: nil))
            try await full.send(#"{"jsonrpc":"2.0","id":2,"method":"$/ping"}"#)
            #expect(try await full.line()?.contains("pong") == true)
            try await self.expectFull(served, until: full)
        }
    }

    @Test
    func `a small publication that waits counts with the bytes of its large frame`() async throws {
        try await self.withWaitingClient { served, full in
            let publication = #"{"jsonrpc":"2.0","method":"$/publish","params":{"url":"app://news"}}"#
            let padding = String(repeating: "x", count: 6_000)
            try await full.send(#"[\#(publication),{"padding":"\#(padding)"}]"#)
            #expect(try await full.line()?.contains("-32600") == true)
            try await self.expectFull(served, until: full)
        }
    }

    @Test func `the records of a batch are retained until all its answers are sent`() throws {
        final class Record: RequestRecord {
            func end(failure: String?) {}
        }
        var requests = ServedRequests(RPCServer.Limits())
        let batch = requests.beginBatch(of: 2)
        weak var record: Record?
        do {
            let created = Record()
            record = created
            let number = try requests.admit(.number(1), bytes: 10, batch: batch, record: created)
            let removed = requests.remove(number)
            let answer = requests.add([], to: removed?.batch, retaining: removed?.record)
            #expect(answer == nil)
        }
        #expect(record != nil)
        _ = requests.add(nil, to: batch)
        #expect(record == nil)
    }

    @Test
    func `the size of a message counts its parameters and its headers`() throws {
        func size(of members: String, method: String = "app://a") throws -> Int {
            let text = #"{"jsonrpc":"2.0","method":"\#(method)","params":{\#(members)}}"#
            let frame = RPCFrame(JSONText(Array(text.utf8)), depth: 64)
            return try #require(frame.messages.first).size - text.utf8.count
        }
        let names = (0..<100).map { #""name\#($0)":"""# }.joined(separator: ",")
        #expect(try size(of: names) == (100 - 16) * 128)
        let headers = #""$waybill":{"headers":{\#(names)}}"#
        #expect(try size(of: headers) == (101 - 16) * 128)
        // A publication counts the parameters and headers of each of its messages, and 20 bytes for each value
        // of its outline.
        func size(ofPublication members: String) throws -> Int {
            try size(of: #""url":"app://a",\#(members)"#, method: "$/publish")
        }
        let values = 1 + 3 + 2 + 100
        #expect(try size(ofPublication: #""parameters":{\#(names)}"#) == (100 - 16) * 128 + values * 20)
        let messages = #""messages":[{\#(names)},{},{\#(headers)}]"#
        let places = 1 + 3 + 2 + 3 + 101
        #expect(try size(ofPublication: messages) == (100 - 16 + 101 - 16) * 128 + places * 20)
        // So do values that nobody reads.
        let unread = "[\(Array(repeating: "0", count: 1_000).joined(separator: ","))]"
        #expect(try size(ofPublication: #""unread":\#(unread)"#) == (1 + 3 + 2 + 1_000) * 20)
        let frame = #"{"jsonrpc":"2.0","method":"$/publish","params":{"url":"app://a",\#(messages)}}"#
        let message = try #require(RPCFrame(JSONText(Array(frame.utf8)), depth: 64).messages.first)
        let publications = try #require(RPCPublications(message, arrivedAt: .now))
        let text = "{\(names)}{}{\(headers)}"
        #expect(publications.size == text.utf8.count + (100 - 16 + 101 - 16) * 128)
        #expect(publications.sizeOfNext == "{\(names)}".utf8.count + (100 - 16) * 128)
    }

    @Test
    func `bytes of waiting publications have a limit for all connections`() async throws {
        try await self.withFewBytes { served in
            let gate = Gate()
            let subscription = try served.bus.subscribe("app://news") { _ async in await gate.wait() }
            let text = String(repeating: "x", count: 6_000)
            let params = #"{"url":"app://news","parameters":{"text":"\#(text)"}}"#
            let (full, other) = (try await served.client(), try await served.client())
            try await full.send(#"{"jsonrpc":"2.0","method":"$/publish","params":\#(params)}"#)
            try await full.send(#"{"jsonrpc":"2.0","id":2,"method":"$/ping"}"#)
            #expect(try await full.line()?.contains("pong") == true)
            try await other.send(Self.call("app://now"))
            #expect(code(try await other.line()) == -32005)
            gate.open()
            #expect(
                await eventually {
                    try? await other.send(Self.call("app://now"))
                    return (try? await other.line())?.contains(#""result":"now""#) == true
                }
            )
            withExtendedLifetime((full, subscription)) {}
        }
    }

    @Test
    func `bytes of partial messages have a limit for all connections`() async throws {
        try await self.withFewBytes { served in
            let text = Self.call("app://now")
            let (full, cut) = (try await served.client(), try await served.client())
            try await full.connection.write(Array(text.utf8))
            // The first partial message is counted when the server has read it.
            #expect(
                await eventually {
                    let probe = try? await served.ask(Self.call("app://now"))
                    return code(probe?.first) == -32005
                }
            )
            try await cut.connection.write(Array(text.utf8))
            #expect(code(try await cut.line()) == -32005)
            #expect(await cut.isClosed())
            try await full.send("")
            #expect(try await full.line()?.contains(#""result":"now""#) == true)
            #expect(try await served.ask(text).first?.contains(#""result":"now""#) == true)
        }
    }

    @Test
    func `an element of an array of parameters does not retain the bytes around its message`() throws {
        let call = #"{"jsonrpc":"2.0","id":1,"method":"app://keep","params":[[7]]}"#
        let bytes = Array((call + String(repeating: " ", count: 30_000)).utf8)
        let frame = RPCFrame(JSONText(bytes: bytes, range: 0..<call.utf8.count), depth: 8)
        guard case .request(_, _, let params)? = frame.messages.first?.content else {
            Issue.record("the frame is not a request")
            return
        }
        let value = try #require(try RPCParameters(params).values?["0"] as? JSONText)
        #expect(value.range == 0..<3)
    }
}

import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

@Suite(.timeLimit(.minutes(1)))
struct LimitTests {
    func withLimits(
        bus busConfiguration: MessageBus.Configuration = .quiet,
        _ change: (inout RPCServer.Limits) -> Void,
        _ body: (Served) async throws -> Void
    ) async throws {
        var configuration = RPCServer.Configuration.quiet
        change(&configuration.limits)
        try await withServer(configuration: configuration, bus: busConfiguration) { served in
            try served.bus.register("app://wait") { _ in try await hang() }
            try served.bus.expose("app://**", for: .all)
            try await body(served)
        }
    }

    @Test
    func `requests in flight have a limit, and a batch counts each of its requests`() async throws {
        try await self.withLimits {
            $0.requestsInFlight = 2
        } _: { served in
            let wait = (1...3).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"app://wait"}"# }
            let client = try await served.client()
            for line in wait { try await client.send(line) }
            let line = try await client.line()
            #expect(code(line) == -32005 && line?.contains(#""id":3"#) == true)
            client.connection.close()
            #expect(await served.balances())
            // A batch counts each of its requests.
            let batch = try await served.client()
            try await batch.send("[\(wait.joined(separator: ","))]")
            for id in 1...2 {
                try await batch.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#)
            }
            let answer = try await batch.line() ?? ""
            #expect(answer.hasPrefix("[") && answer.contains("-32005") && answer.contains("-32004"))
        }
    }

    @Test
    func `a connection ends if its batches collect too many rejections`() async throws {
        try await self.withLimits {
            $0.batchAnswerBytes = 20_000
        } _: { served in
            let client = try await served.client()
            // Each batch waits for its call, and its other messages are rejected.
            let rejected = Array(repeating: "1", count: 100).joined(separator: ",")
            for id in 1...5 {
                // The connection may already be closed.
                try? await client.send(
                    #"[{"jsonrpc":"2.0","id":\#(id),"method":"app://wait"},\#(rejected)]"#
                )
            }
            #expect(await eventually { served.server.statistics.openConnections == 0 })
            withExtendedLifetime(client) {}
        }
    }

    @Test
    func `connections leave a part of the descriptors of the process to the program`() {
        var limits = RPCServer.Limits()
        #expect(limits.connections(ofDescriptors: 1_024) == 768)
        #expect(limits.connections(ofDescriptors: 4_096) == 3_840)
        #expect(limits.connections(ofDescriptors: .max) == 10_000)
        limits.connections = 10
        #expect(limits.connections(ofDescriptors: 1_024) == 10)
        #expect(limits.connections(ofDescriptors: 1) == 1)
    }

    @Test
    func `a publication that waits for its turn fails at its deadline`() async throws {
        try await self.withLimits {
            $0.guaranteedCalls = 1
            $0.sharedCalls = 0
        } _: { served in
            let client = try await served.client()
            try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://wait"}"#)
            #expect(await eventually { served.bus.statistics.inFlight == 1 })
            let params = #"{"url":"app://news","$waybill":{"timeLeft":20}}"#
            try await client.send(#"{"jsonrpc":"2.0","id":2,"method":"$/publish","params":\#(params)}"#)
            let line = try await client.line()
            #expect(code(line) == -32003 && line?.contains(#""id":2"#) == true)
        }
    }

    @Test
    func `messages of a batch and the bytes of its answers have a limit`() async throws {
        try await self.withLimits {
            $0.messagesPerBatch = 4
            $0.batchAnswerBytes = 2_500
        } _: { served in
            try served.bus.register("app://text") { _ in String(repeating: "x", count: 1_000) }
            let call = #"{"jsonrpc":"2.0","id":7,"method":"app://text"}"#
            func batch(_ count: Int) -> String {
                "[\((0..<count).map { call.replacing("7", with: "\($0)") }.joined(separator: ","))]"
            }
            let lines = try await served.ask(batch(2), batch(4), batch(5), "[1,1,1,1,1]")
            #expect(lines[0].utf8.count > 2_000 && !lines[0].contains("error"))
            #expect(lines[1].utf8.count < 3_500)
            #expect(lines[1].components(separatedBy: "-32005").count == 3)
            #expect(code(lines[2]) == -32600 && lines[2].contains("5 messages"))
            #expect(code(lines[3]) == -32600)
        }
    }

    @Test
    func `each message of a batch counts against the connection's messages per second`() async throws {
        try await self.withLimits {
            $0.requestsPerSecond = 50
        } _: { served in
            let ping = #"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#
            let batch = "[\(Array(repeating: ping, count: 60).joined(separator: ","))]"
            let began = ContinuousClock.now
            let answers = try await served.ask(batch)
            #expect(answers.first?.components(separatedBy: "pong").count == 61)
            #expect(began.duration(to: .now) > .milliseconds(150))
        }
    }

    @Test(arguments: [#""id":1,"#, ""])
    func `each message of a publication counts against the connection's messages per second`(
        id: String
    ) async throws {
        try await self.withLimits {
            $0.requestsPerSecond = 50
        } _: { served in
            let messages = Array(repeating: "{}", count: 60).joined(separator: ",")
            let params = #"{"url":"app://news","messages":[\#(messages)]}"#
            let client = try await served.client()
            let began = ContinuousClock.now
            try await client.send(#"{"jsonrpc":"2.0",\#(id)"method":"$/publish","params":\#(params)}"#)
            try await client.send(#"{"jsonrpc":"2.0","id":2,"method":"$/ping"}"#)
            let lines = try await client.lines(id.isEmpty ? 1 : 2)
            #expect(lines.last?.contains("pong") == true)
            #expect(began.duration(to: .now) > .milliseconds(150))
        }
    }

    @Test
    func `bytes of requests in flight have a limit for each connection`() async throws {
        try await self.withLimits {
            $0.requestBytesInFlight = 10_000
        } _: { served in
            let text = String(repeating: "x", count: 6_000)
            let client = try await served.client()
            for id in 1...2 {
                try await client.send(
                    #"{"jsonrpc":"2.0","id":\#(id),"method":"app://wait","params":{"text":"\#(text)"}}"#
                )
            }
            let line = try await client.line()
            #expect(code(line) == -32005 && line?.contains(#""id":2"#) == true)
            client.connection.close()
            #expect(await served.balances())
        }
    }

    @Test
    func `each parameter after the 16th counts as 128 bytes more`() async throws {
        try await self.withLimits {
            $0.requestBytesInFlight = 10_000
        } _: { served in
            let client = try await served.client()
            let members = (0..<100).map { "\"\($0)\":1" }.joined(separator: ",")
            for id in 1...2 {
                try await client.send(
                    #"{"jsonrpc":"2.0","id":\#(id),"method":"app://wait","params":{\#(members)}}"#
                )
            }
            let line = try await client.line()
            #expect(code(line) == -32005 && line?.contains(#""id":2"#) == true)
            client.connection.close()
            #expect(await served.balances())
        }
    }

    @Test
    func `the server stops handling requests of a peer that does not read`() async throws {
        try await self.withLimits {
            $0.unreadBytes = 100_000
        } _: { served in
            try served.bus.register("app://text") { _ in String(repeating: "x", count: 50_000) }
            let client = try await served.client()
            let calls = Task {
                for id in 1...400 {
                    try await client.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"app://text"}"#)
                }
            }
            #expect(await eventually { served.server.statistics.requests > 0 })
            // Another connection is served meanwhile.
            for _ in 0..<20 { _ = try await served.ask(#"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#) }
            // The system's buffers hold some of the messages, so the count exceeds the limit by their number.
            #expect(served.server.statistics.requests < 200)
            #expect(try await client.lines(400).count == 400)
            try await calls.value
        }
    }

    @Test
    func `a call that waits until its peer reads does not keep the loop busy`() async throws {
        try await self.withLimits {
            $0.unreadBytes = 1
            $0.guaranteedCalls = 1
            $0.sharedCalls = 0
        } _: { served in
            let gate = Gate()
            // The system accepts a part of the answer, and the rest waits in the server.
            try served.bus.register("app://text") { _ async in
                await gate.wait()
                return String(repeating: "x", count: 250_000)
            }
            let client = try await served.client()
            for id in 1...2 {
                try await client.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"app://text"}"#)
            }
            #expect(await eventually { served.server.statistics.requests == 2 })
            gate.open()
            #expect(await eventually { served.server.statistics.answers == 1 })
            let before = served.bus.eventLoop.statistics.jobsRun
            try await Task.sleep(for: .milliseconds(100))
            #expect(served.bus.eventLoop.statistics.jobsRun - before < 100)
            #expect(try await client.lines(2).count == 2)
        }
    }

    @Test
    func `the connection with the most unread bytes is closed when all exceed the limit`() async throws {
        try await self.withLimits {
            $0.unreadBytesOfAll = 1 << 20
        } _: { served in
            let gate = Gate()
            try served.bus.register("app://text") { _ async in
                await gate.wait()
                return String(repeating: "x", count: 100_000)
            }
            let (greedy, modest) = (try await served.client(), try await served.client())
            for id in 1...100 {
                try await greedy.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"app://text"}"#)
            }
            try await modest.send(#"{"jsonrpc":"2.0","id":1,"method":"app://text"}"#)
            #expect(await eventually { served.bus.statistics.inFlight == 101 })
            gate.open()
            #expect(await eventually { served.server.statistics.openConnections == 1 })
            #expect(try await modest.line()?.contains("xxx") == true)
            withExtendedLifetime(greedy) {}
        }
    }

    @Test(arguments: [true, false])
    func `progress replies count as unread bytes, and the connection with the most is closed`(
        isAnswered: Bool
    ) async throws {
        try await self.withLimits {
            $0.unreadBytesOfAll = 1 << 20
        } _: { served in
            let gate = Gate()
            try served.bus.register("app://text") { message async throws in
                await gate.wait()
                await message.reply(with: String(repeating: "x", count: 100_000))
                try await hang()
            }
            let (greedy, modest) = (try await served.client(), try await served.client())
            let progress = isAnswered ? #"{"progress":true,"answers":true}"# : #"{"progress":true}"#
            func call(_ id: Int) -> String {
                #"{"jsonrpc":"2.0","id":\#(id),"method":"app://text","params":{"$waybill":\#(progress)}}"#
            }
            for id in 1...100 { try await greedy.send(call(id)) }
            try await modest.send(call(1))
            #expect(await eventually { served.bus.statistics.inFlight == 101 })
            gate.open()
            #expect(await eventually { served.server.statistics.openConnections == 1 })
            #expect(try await modest.line()?.contains("xxx") == true)
            withExtendedLifetime(greedy) {}
        }
    }

    @Test
    func `an answer of more than half of the limit of unread bytes is an error`() async throws {
        try await self.withLimits {
            $0.unreadBytesOfAll = 1 << 20
        } _: { served in
            try served.bus.register("app://text") { String(repeating: "x", count: try $0.argument("count")) }
            func call(_ count: Int) -> String {
                #"{"jsonrpc":"2.0","id":1,"method":"app://text","params":{"count":\#(count)}}"#
            }
            let lines = try await served.ask(call(500_000), call(600_000), call(1))
            #expect(lines.map { code($0) } == [nil, -32005, nil])
        }
    }

    @Test
    func `waiting calls of all connections have a limit`() async throws {
        try await self.withLimits {
            $0.guaranteedCalls = 1
            $0.sharedCalls = 0
            $0.waitingCallsOfAll = 3
        } _: { served in
            try served.bus.register("app://now") { _ in "now" }
            let (busy, other) = (try await served.client(), try await served.client())
            for id in 1...4 { try await busy.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"app://wait"}"#) }
            try await busy.send(#"{"jsonrpc":"2.0","id":5,"method":"app://wait"}"#)
            let line = try await busy.line()
            #expect(code(line) == -32005 && line?.contains(#""id":5"#) == true)
            // The guaranteed place of another connection is free.
            try await other.send(#"{"jsonrpc":"2.0","id":1,"method":"app://now"}"#)
            #expect(try await other.line()?.contains("now") == true)
            busy.connection.close()
            #expect(await eventually { served.server.statistics.openConnections == 1 })
        }
    }

    @Test
    func `a waiting call that ends when its place becomes free leaves the place to others`() async throws {
        try await self.withLimits {
            $0.guaranteedCalls = 1
            $0.sharedCalls = 0
        } _: { served in
            try served.bus.register("app://now") { _ in "now" }
            let client = try await served.client()
            func call(_ id: Int, _ url: String) -> String {
                #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(url)"}"#
            }
            func cancel(_ id: Int) -> String {
                #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#
            }
            for round in 0..<50 {
                let (running, waiting) = (round * 2, round * 2 + 1)
                // The lines are sent in one write, so that the second call is cancelled before the job that
                // begins it has run.
                let lines = [
                    call(running, "app://wait"), call(waiting, "app://now"), cancel(running), cancel(waiting),
                ]
                try await client.send(lines.joined(separator: "\n"))
                #expect(try await client.lines(2).count == 2)
            }
            try await client.send(call(1_000, "app://now"))
            #expect(try await client.line() == #"{"jsonrpc":"2.0","id":1000,"result":"now"}"#)
        }
    }

    @Test
    func `waiting calls and messages of a connection keep their order`() async throws {
        try await self.withLimits {
            $0.guaranteedCalls = 2
            $0.sharedCalls = 1
        } _: { served in
            let seen = Journal<Int>()
            try served.bus.register("app://note") { message in seen.add(try message.argument("n")) }
            let client = try await served.client()
            var lines: [String] = []
            for number in 0..<300 {
                let isCall = number.isMultiple(of: 3)
                let id = isCall ? #""id":\#(number),"# : ""
                lines.append(#"{"jsonrpc":"2.0",\#(id)"method":"app://note","params":{"n":\#(number)}}"#)
            }
            // Three slow calls come first, so that the others wait.
            for number in 900..<903 {
                try await client.send(#"{"jsonrpc":"2.0","id":\#(number),"method":"app://wait"}"#)
            }
            try await client.send(lines.joined(separator: "\n"))
            for number in 900..<903 {
                try await client.send(
                    #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(number)}}"#
                )
            }
            #expect(await eventually { seen.entries.count == 300 })
            #expect(seen.entries == Array(0..<300))
        }
    }

    @Test
    func `waiting messages are handled although their sender has closed the connection`() async throws {
        try await self.withLimits {
            $0.guaranteedCalls = 1
            $0.sharedCalls = 0
        } _: { served in
            let seen = Journal<Int>()
            try served.bus.register("app://note") { message in seen.add(try message.argument("n")) }
            let client = try await served.client()
            try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://wait"}"#)
            #expect(await eventually { served.bus.statistics.inFlight == 1 })
            for number in 0..<10 {
                try await client.send(#"{"jsonrpc":"2.0","method":"app://note","params":{"n":\#(number)}}"#)
            }
            #expect(try await client.reachesServer())
            client.connection.close()
            #expect(await eventually { seen.entries == Array(0..<10) })
            #expect(await served.balances())
        }
    }

    @Test
    func `calls beyond a connection's places wait, and can be cancelled or exceed their deadline`()
        async throws
    {
        try await self.withLimits {
            $0.guaranteedCalls = 1
            $0.sharedCalls = 0
        } _: { served in
            try served.bus.register("app://now") { _ in "now" }
            let (busy, other) = (try await served.client(), try await served.client())
            try await busy.send(#"{"jsonrpc":"2.0","id":1,"method":"app://wait"}"#)
            try await busy.send(#"{"jsonrpc":"2.0","id":2,"method":"app://now"}"#)
            try await busy.send(#"{"jsonrpc":"2.0","method":"app://now"}"#)
            try await busy.send(
                #"{"jsonrpc":"2.0","id":3,"method":"app://now","params":{"$waybill":{"timeLeft":20}}}"#
            )
            try await busy.send(#"{"jsonrpc":"2.0","id":4,"method":"$/ping"}"#)
            // Methods of the protocol do not wait, and another connection has its own place.
            try await other.send(#"{"jsonrpc":"2.0","id":1,"method":"app://now"}"#)
            #expect(try await other.line()?.contains("now") == true)
            // On a slow machine, the deadline passes before the ping arrives.
            let early = try await busy.lines(2)
            #expect(early.contains { $0.contains("pong") })
            #expect(early.contains { code($0) == -32003 && $0.contains(#""id":3"#) })
            try await busy.send(#"{"jsonrpc":"2.0","id":5,"method":"app://now"}"#)
            try await busy.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}"#)
            let cancelled = try await busy.line()
            #expect(code(cancelled) == -32004 && cancelled?.contains(#""id":2"#) == true)
            try await busy.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#)
            let lines = try await busy.lines(2)
            #expect(code(lines[0]) == -32004 && lines[1] == #"{"jsonrpc":"2.0","id":5,"result":"now"}"#)
            #expect(
                await eventually { served.bus.statistics.sent == 4 && served.bus.statistics.inFlight == 0 }
            )
            busy.connection.close()
            other.connection.close()
            #expect(await served.balances())
        }
    }

    @Test
    func `connections of a server have a limit, and a closed one makes room`() async throws {
        try await self.withLimits {
            $0.connections = 2
        } _: { served in
            let ping = #"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#
            let clients = [try await served.client(), try await served.client()]
            for client in clients {
                try await client.send(ping)
                _ = try await client.line()
            }
            let third = try await served.client()
            #expect(code(try await third.line()) == -32005)
            #expect(await third.isClosed())
            clients[0].connection.close()
            #expect(await eventually { served.server.statistics.openConnections == 1 })
            #expect(try await served.ask(ping).first?.contains("pong") == true)
            // Optimized code releases the clients after their last use, which closes them.
            withExtendedLifetime(clients) {}
        }
    }

    @Test
    func `rejected peers that continue to send keep few connections open`() async throws {
        var configuration = RPCServer.Configuration.quiet
        (configuration.admitsLoopbackWithoutToken, configuration.limits.connections) = (true, 1)
        try await withServer(at: .tcp("127.0.0.1", port: 0), configuration: configuration) { served in
            let admitted = try await served.client()
            #expect(await eventually { served.server.statistics.openConnections == 1 })
            let limit = RPCServerCore.closingRefusalLimit
            try await withThrowingTaskGroup(of: Void.self) { peers in
                for _ in 0..<limit + 8 {
                    let peer = try await served.client()
                    peers.addTask {
                        while (try? await peer.connection.write([0x20])) != nil {
                            try await Task.sleep(for: .milliseconds(5))
                        }
                    }
                }
                #expect(await eventually { served.server.statistics.refusedConnections == limit + 8 })
                #expect(await served.server.core.closingRefusals <= limit)
                peers.cancelAll()
            }
            #expect(await eventually { await served.server.core.closingRefusals == 0 })
            withExtendedLifetime(admitted) {}
        }
    }

    @Test
    func `connections without the required token do not keep others out`() async throws {
        var configuration = RPCServer.Configuration.quiet
        (configuration.token, configuration.limits.connections) = ("secret", 3)
        try await withServer(at: .tcp("127.0.0.1", port: 0), configuration: configuration) { served in
            let token = #"{"jsonrpc":"2.0","id":1,"method":"$/authenticate","params":{"token":"secret"}}"#
            var silent: [RawClient] = []
            for _ in 0..<3 { silent.append(try await served.client()) }
            #expect(await eventually { served.server.statistics.openConnections == 3 })
            var known: [RawClient] = []
            for _ in 0..<3 {
                known.append(try await served.client())
                try await known.last?.send(token)
                #expect(try await known.last?.line()?.contains("result") == true)
            }
            for client in silent { #expect(await client.isClosed()) }
            // All peers have sent the token, so the server refuses another connection.
            #expect(code(try await served.client().line()) == -32005)
            withExtendedLifetime(known) {}
        }
    }

    @Test
    func `a new connection replaces the oldest one without the token, even after others have ended`()
        async throws
    {
        var configuration = RPCServer.Configuration.quiet
        (configuration.token, configuration.limits.connections) = ("secret", 3)
        try await withServer(configuration: configuration) { served in
            func authenticate(_ client: RawClient) async throws -> Bool {
                try await client.send(
                    #"{"jsonrpc":"2.0","id":1,"method":"$/authenticate","params":{"token":"secret"}}"#
                )
                return try await client.line()?.contains("result") == true
            }
            let (first, ended) = (try await served.client(), try await served.client())
            let older = try await served.client()
            #expect(await eventually { served.server.statistics.openConnections == 3 })
            ended.connection.close()
            #expect(await eventually { served.server.statistics.openConnections == 2 })
            // The session of this connection often has the address of the session that has ended.
            let newer = try await served.client()
            #expect(await eventually { served.server.statistics.openConnections == 3 })
            #expect(try await authenticate(first))
            let last = try await served.client()
            #expect(await older.isClosed())
            #expect(try await authenticate(newer))
            withExtendedLifetime((first, last)) {}
        }
    }

    @Test
    func `the size of a message and the depth of its nesting have a limit`() async throws {
        try await self.withLimits {
            $0.frameSize = 1000
            $0.depth = 4
        } _: { served in
            let deep = String(repeating: "[", count: 400)
            #expect(code(try await served.ask(deep).first) == -32700)
            let client = try await served.client()
            // The message never ends, and is rejected long before.
            Task {
                for _ in 0..<1000 { try await client.connection.write([UInt8](repeating: 0x5B, count: 4096)) }
            }
            #expect(code(try await client.line()) == -32600)
            #expect(await client.isClosed())
            #expect(try await served.ask(#"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#).count == 1)
        }
    }
}

import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

// A call has a place, the permission to run, until its handler has returned.
extension LimitTests {
    /// Runs a closure with a server on which each connection runs one call, and with the gate at which the
    /// handler of `app://stubborn` waits.
    private func withStubbornHandler(
        _ change: (inout RPCServer.Limits) -> Void = { _ in },
        _ body: (Served, _ gate: Gate, _ begun: Journal<Int>) async throws -> Void
    ) async throws {
        try await self.withLimits {
            $0.guaranteedCalls = 1
            $0.sharedCalls = 0
            change(&$0)
        } _: { served in
            let (gate, begun) = (Gate(), Journal<Int>())
            try served.bus.register("app://now") { _ in "now" }
            try served.bus.register("app://stubborn") { message in
                begun.add(try message.parameters.require("n"))
                // The gate ignores the cancellation of the task.
                await gate.wait()
            }
            try await body(served, gate, begun)
            gate.open()
        }
    }

    private func notification(_ number: Int) -> String {
        #"{"jsonrpc":"2.0","method":"app://stubborn?n=\#(number)"}"#
    }

    /// Sends messages whose handlers wait at the gate, and expects that one handler begins after another.
    private func expectTurns(
        of messages: [String],
        _ served: Served,
        _ gate: Gate,
        _ begun: Journal<Int>
    ) async throws {
        let client = try await served.client()
        for message in messages { try await client.send(message) }
        #expect(try await client.reachesServer())
        #expect(begun.entries == [0])
        gate.open()
        #expect(await eventually { begun.entries == Array(messages.indices) })
        client.connection.close()
        #expect(await served.balances())
    }

    @Test
    func `a notification waits until the handlers of earlier notifications have returned`() async throws {
        try await self.withStubbornHandler { served, gate, begun in
            try await self.expectTurns(of: (0..<5).map { self.notification($0) }, served, gate, begun)
        }
    }

    @Test
    func `notifications of a closed connection wait for places, and other connections have their own`()
        async throws
    {
        try await self.withStubbornHandler { served, gate, begun in
            let client = try await served.client()
            for number in 0..<5 { try await client.send(self.notification(number)) }
            #expect(try await client.reachesServer())
            client.connection.close()
            #expect(await served.balances())
            let other = try await served.client()
            try await other.send(#"{"jsonrpc":"2.0","id":1,"method":"app://now"}"#)
            #expect(try await other.line()?.contains("now") == true)
            #expect(begun.entries == [0])
            gate.open()
            #expect(await eventually { begun.entries == [0, 1, 2, 3, 4] })
            other.connection.close()
            #expect(await served.balances())
        }
    }

    @Test
    func `a request keeps its place after its deadline, until its handler has returned`() async throws {
        try await self.withStubbornHandler { served, gate, begun in
            let client = try await served.client()
            func expectFailure(_ number: Int) async throws {
                try await client.send(
                    #"{"jsonrpc":"2.0","id":\#(number),"method":"app://stubborn?n=\#(number)","#
                        + #""params":{"$waybill":{"timeLeft":5}}}"#
                )
                #expect(code(try await client.line()) == -32003)
            }
            // On a busy machine, the deadline can pass before the handler begins.
            while begun.entries.isEmpty { try await expectFailure(0) }
            try await expectFailure(1)
            try await client.send(#"{"jsonrpc":"2.0","id":2,"method":"app://now"}"#)
            #expect(try await client.reachesServer())
            #expect(begun.entries == [0])
            gate.open()
            #expect(try await client.line()?.contains("now") == true)
            client.connection.close()
            #expect(await served.balances())
        }
    }

    @Test
    func `a call keeps its place until the handler of its return URL has returned`() async throws {
        try await self.withStubbornHandler { served, gate, begun in
            try served.bus.expose("app://stubborn", for: .all)
            let client = try await served.client()
            try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://now#app://stubborn?n=1"}"#)
            #expect(try await client.line()?.contains("now") == true)
            #expect(await eventually { begun.entries == [1] })
            try await client.send(self.notification(2))
            #expect(try await client.reachesServer())
            #expect(begun.entries == [1])
            gate.open()
            #expect(await eventually { begun.entries == [1, 2] })
            client.connection.close()
            #expect(await served.balances())
        }
    }

    /// Registers a subscriber that waits at the gate, and returns a function that publishes to it.
    private func publisher(
        _ served: Served,
        _ gate: Gate,
        _ begun: Journal<Int>
    ) throws -> (_ number: Int, _ id: Int?) -> String {
        try served.bus.subscribe("app://news/:n") { message in
            begun.add(try message.parameters.require("n"))
            await gate.wait()
        }
        return { number, id in
            let id = id.map { #""id":\#($0),"# } ?? ""
            return #"{"jsonrpc":"2.0",\#(id)"method":"$/publish","params":{"url":"app://news/\#(number)"}}"#
        }
    }

    @Test
    func `a publication without a response keeps its place until its subscribers have returned`()
        async throws
    {
        try await self.withStubbornHandler { served, gate, begun in
            let publication = try self.publisher(served, gate, begun)
            try await self.expectTurns(of: (0..<5).map { publication($0, nil) }, served, gate, begun)
        }
    }

    @Test
    func `the rest of a publication keeps the place of the publication`() async throws {
        try await self.withStubbornHandler { served, gate, begun in
            let publication = try self.publisher(served, gate, begun)
            let messages = (0..<3).map { #"{"$waybill":{"url":"app://news/\#($0)"}}"# }.joined(separator: ",")
            let params = #"{"url":"app://news/0","messages":[\#(messages)]}"#
            let client = try await served.client()
            try await client.send(#"{"jsonrpc":"2.0","method":"$/publish","params":\#(params)}"#)
            try await client.send(publication(3, nil))
            #expect(try await client.reachesServer())
            #expect(begun.entries == [0, 1, 2])
            gate.open()
            #expect(await eventually { begun.entries == [0, 1, 2, 3] })
        }
    }

    @Test
    func `a cancelled publication keeps its place until its subscribers have returned`() async throws {
        try await self.withStubbornHandler { served, gate, begun in
            let publication = try self.publisher(served, gate, begun)
            let client = try await served.client()
            try await client.send(publication(0, 1))
            #expect(await eventually { begun.entries == [0] })
            try await client.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#)
            #expect(code(try await client.line()) == -32004)
            try await client.send(publication(1, nil))
            #expect(try await client.reachesServer())
            #expect(begun.entries == [0])
            gate.open()
            #expect(await eventually { begun.entries == [0, 1] })
        }
    }

    @Test
    func `a publication that is cancelled publishes no further messages`() async throws {
        try await self.withStubbornHandler { served, gate, begun in
            _ = try self.publisher(served, gate, begun)
            let messages = (1...3).map { #"{"$waybill":{"url":"app://news/\#($0)"}}"# }.joined(separator: ",")
            let params = #"{"url":"app://news/0","messages":[\#(messages)]}"#
            let client = try await served.client()
            try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"$/publish","params":\#(params)}"#)
            #expect(await eventually { begun.entries == [1] })
            try await client.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#)
            #expect(code(try await client.line()) == -32004)
            gate.open()
            #expect(await eventually { served.bus.statistics.inFlight == 0 })
            #expect(begun.entries == [1])
        }
    }

    @Test
    func `all closed connections together have the places of one connection`() async throws {
        try await self.withStubbornHandler { served, gate, begun in
            for number in 0..<10 {
                let client = try await served.client()
                for _ in 0..<3 { try await client.send(self.notification(number)) }
                #expect(try await client.reachesServer())
                client.connection.close()
                #expect(await served.balances())
            }
            // Each connection has begun one call while it was open.
            #expect(begun.entries == Array(0..<10))
            gate.open()
            #expect(await eventually { begun.count == 30 })
        }
    }

    @Test
    func `calls of closed connections beyond the shared places count as connections`() async throws {
        try await self.withStubbornHandler {
            $0.connections = 3
        } _: { served, gate, begun in
            for number in 0..<4 {
                let client = try await served.client()
                try await client.send(self.notification(number))
                #expect(try await client.reachesServer())
                client.connection.close()
                #expect(await served.balances())
            }
            #expect(code(try await served.client().line()) == -32005)
            #expect(begun.entries == [0, 1, 2, 3])
            gate.open()
            #expect(await eventually { served.bus.statistics.inFlight == 0 })
            #expect(try await served.client().reachesServer())
        }
    }

    @Test
    func `calls that wait when their connection is closed leave all places free`() async throws {
        try await self.withLimits {
            $0.guaranteedCalls = 1
            $0.sharedCalls = 4
        } _: { served in
            let gate = Gate()
            try served.bus.register("app://stubborn") { _ in await gate.wait() }
            for _ in 0..<20 {
                let client = try await served.client()
                for id in 0..<50 {
                    try await client.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"app://stubborn"}"#)
                    try await client.send(self.notification(id))
                }
                client.connection.close()
            }
            #expect(await served.balances())
            gate.open()
            #expect(await eventually { served.bus.statistics.inFlight == 0 })
            let client = try await served.client()
            for id in 0..<5 { try await client.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"app://wait"}"#) }
            #expect(await eventually { served.bus.statistics.inFlight == 5 })
            client.connection.close()
        }
    }

    @Test
    func `a server that shuts down begins the notifications that wait`() async throws {
        let handled = Tally()
        try await self.withStubbornHandler { served, gate, begun in
            let client = try await served.client()
            for number in 0..<5 { try await client.send(self.notification(number)) }
            #expect(try await client.reachesServer())
            client.connection.close()
            #expect(await served.balances())
            #expect(begun.entries == [0])
            served.server.beginGracefulShutdown()
            #expect(await eventually { begun.entries == [0, 1, 2, 3, 4] })
            handled.add()
        }
        #expect(handled.count == 1)
    }

    @Test
    func `a notification that is rejected gives its place back`() async throws {
        try await self.withStubbornHandler { served, _, _ in
            let client = try await served.client()
            for _ in 0..<5 { try await client.send(#"{"jsonrpc":"2.0","method":"other://nowhere"}"#) }
            try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://now"}"#)
            #expect(try await client.line()?.contains("now") == true)
        }
    }
}

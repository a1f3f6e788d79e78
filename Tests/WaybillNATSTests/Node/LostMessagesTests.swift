import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillRouting
import WaybillTestSupport

@testable import WaybillNATS

/// A node that the test plays, message by message.
private struct PlayedNode {
    let id = NodeID.random()
    let subjects = Subjects(realm: "test")
    /// The requests to the node, and the notifications about them.
    let heard = Journal<TransportMessage>()
    private let cluster: TestCluster
    private let transport: MemoryTransport

    /// Joins a cluster with one route.
    init(in cluster: TestCluster, sharing pattern: String, knownTo near: TestCluster.Node) async throws {
        self.cluster = cluster
        self.transport = cluster.memory.transport()
        let (subjects, heard) = (self.subjects, self.heard)
        try await self.transport.open(on: near.bus.eventLoop) { event in
            if case .message(let message) = event, !subjects.isAboutNodes(message.subject) {
                heard.add(message)
            }
            return true
        }
        let call = subjects.call(PatternShape(try RoutePattern(pattern)))
        for subject in [subjects.members(self.id), subjects.node(self.id)] {
            self.transport.subscribe(subject, queue: nil)
        }
        self.transport.subscribe(call, queue: ServiceDescription.queue)
        var hello = Announcement(.hello, of: self.id)
        hello.routes = [pattern]
        // The played node sends no heartbeats.
        hello.interval = Announcement.longestInterval
        cluster.memory.publish(subjects.nodes, nil, hello.bytes, from: 0)
        #expect(await near.knows(pattern))
    }

    /// The number of the latest request.
    func request() throws -> (node: NodeID, number: Int) {
        try #require(self.heard.entries.last?.reply.flatMap { self.subjects.request(ofInbox: $0) })
    }

    /// Returns a message of the node about a request.
    func message(_ method: String, _ request: (node: NodeID, number: Int)) -> TransportMessage {
        TransportMessage(
            subject: self.subjects.inbox(request.node, 0),
            reply: self.subjects.node(self.id),
            payload: Array(
                #"{"jsonrpc":"2.0","method":"\#(method)","params":{"id":\#(request.number),"value":1}}"#.utf8
            )
        )
    }

    /// The text of the latest message to the node.
    var last: String { String(decoding: self.heard.entries.last?.payload ?? [], as: UTF8.self) }

    func leave() async { await self.transport.close() }
}

/// A handler that ends when it is cancelled, and not before.
private struct StuckHandler {
    let started = Tally()
    let cancelled = Tally()

    func register(_ url: String, at bus: MessageBus) throws {
        let (started, cancelled) = (self.started, self.cancelled)
        try bus.register(url) { _ in
            let end = Gate()
            started.add()
            await withTaskCancellationHandler {
                await end.wait()
            } onCancel: {
                cancelled.add()
                end.open()
            }
        }
    }
}

/// Callers and handlers when a message between them is lost.
@Suite(.timeLimit(.minutes(1)))
struct LostMessagesTests {
    /// Runs a closure with two nodes, of which the far one has a handler for `app://far/stuck`.
    private static func withStuckHandler(
        _ body: (
            _ near: TestCluster.Node, _ far: TestCluster.Node, StuckHandler, TestCluster
        ) async throws -> Void
    ) async throws {
        try await withCluster(.memory) { cluster in
            let stuck = StuckHandler()
            let far = try await cluster.node("far") { bus in
                try bus.share("app://far/**")
                try stuck.register("app://far/stuck", at: bus)
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/stuck"))
            try await body(near, far, stuck, cluster)
        }
    }

    @Test
    func `a node that confirms a request late is told that the caller has left`() async throws {
        try await withCluster(.memory) { cluster in
            let near = try await cluster.node("near")
            let (loop, core) = (near.bus.eventLoop, near.node.core)
            let far = try await PlayedNode(in: cluster, sharing: "app://far/one", knownTo: near)
            // In each round the confirmation arrives at another time after the caller has left.
            for round in 0..<Scale.of(400) {
                let caller = Task {
                    try await Probe(eventLoop: loop).run { try await near.bus.route("app://far/one") }
                }
                #expect(await eventually { far.heard.count == 2 * round + 1 })
                let claim = far.message("$/accepted", try far.request())
                @Sendable func takeClaim(after turns: Int) {
                    if turns == 0 { return core.assumeOnLoop { _ = $0.receive(.message(claim)) } }
                    loop.execute { takeClaim(after: turns - 1) }
                }
                takeClaim(after: round % 20 + 1)
                caller.cancel()
                await #expect(throws: RoutingError.self) { try await caller.value }
                try #require(await eventually { far.heard.count == 2 * round + 2 })
                #expect(far.last.contains("$/cancelRequest"))
            }
            await far.leave()
        }
    }

    @Test func `a request that a node had received before it died is not sent to another node`() async throws
    {
        try await withCluster(.memory) { cluster in
            let near = try await cluster.node("near")
            let far = try await PlayedNode(in: cluster, sharing: "app://far/one", knownTo: near)
            let heard = Tally()
            _ = try await cluster.node("other") { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/one") { _ in heard.add() }
            }
            // Each of two nodes receives one of two requests.
            let callers = (0..<2).map { _ in
                Task { await failure { try await near.bus.route("app://far/one") { (_: Int) in 1 } } }
            }
            #expect(await eventually { far.heard.count == 1 && heard.count == 1 })
            let request = try far.request()
            await far.leave()
            cluster.memory.publish(
                far.message("$/progress", request).subject,
                far.subjects.node(far.id),
                far.message("$/progress", request).payload,
                from: 0
            )
            var errors: [RoutingError] = []
            for caller in callers { if let error = await caller.value { errors.append(error) } }
            #expect(errors.map(\.code) == [.unreachable])
            #expect(heard.count == 1)
            #expect(near.node.statistics.lost == 1)
            #expect(await near.balances())
        }
    }

    @Test func `a node that hung learns that its requests are lost`() async throws {
        try await withCluster(.memory) { cluster in
            let stuck = StuckHandler()
            let near = try await cluster.node("near", heartbeat: TestCluster.shortHeartbeat) { bus in
                try bus.share("app://near/**")
                try stuck.register("app://near/stuck", at: bus)
            }
            let still = try await cluster.node("still", heartbeat: TestCluster.shortHeartbeat)
            #expect(await still.knows("app://near/stuck"))
            let call = Task { await failure { try await still.bus.route("app://near/stuck") } }
            #expect(await eventually { stuck.started.count == 1 })
            let goOn = Gate()
            still.bus.eventLoop.execute { goOn.block() }
            #expect(await eventually { stuck.cancelled.count == 1 })
            goOn.open()
            #expect(await call.value?.code == .unreachable)
            #expect(await still.balances())
            #expect(await eventually { near.node.members.contains { $0.name == "still" } })
        }
    }

    @Test func `a handler is cancelled when its caller's node has lost answers`() async throws {
        try await Self.withStuckHandler { near, far, stuck, _ in
            let call = Task { await failure { try await near.bus.route("app://far/stuck") } }
            #expect(await eventually { stuck.started.count == 1 })
            try #require(near.transport).take(.overflow)
            #expect(await call.value?.code == .unreachable)
            #expect(await eventually { stuck.cancelled.count == 1 })
            #expect(await far.balances())
        }
    }

    @Test func `a handler is cancelled when its node has lost the claim with its connection`() async throws {
        try await Self.withStuckHandler { near, far, stuck, cluster in
            let transport = try #require(far.transport)
            // The other nodes do not notice the loss of the connection.
            let beginning = Gate()
            try far.bus.register("app://far/begin") { _ in
                cluster.memory.silence(transport.client, true)
                beginning.open()
                try await far.bus.route("app://far/stuck")
            }
            #expect(await near.knows("app://far/begin"))
            let call = Task { await failure { try await near.bus.route("app://far/begin") } }
            await beginning.wait()
            #expect(await eventually { stuck.started.count == 1 })
            transport.take(.disconnected("the server is gone"))
            #expect(await eventually { await !far.bus.readiness().isReady })
            cluster.memory.silence(transport.client, false)
            transport.take(.connected)
            #expect(await eventually { stuck.cancelled.count == 1 })
            #expect(await call.value?.code == .unreachable)
            #expect(await far.balances())
        }
    }

    @Test func `requests at a node that has lost messages fail, for nodes and for other clients`()
        async throws
    {
        try await Self.withStuckHandler { near, far, stuck, cluster in
            let answers = Journal<String>()
            cluster.memory.observe { subject, _, payload in
                if subject == "_INBOX.1" { answers.add(String(decoding: payload, as: UTF8.self)) }
            }
            let call = Task { await failure { try await near.bus.route("app://far/stuck") } }
            let request = #"{"jsonrpc":"2.0","id":1,"method":"app://far/stuck"}"#
            let subject = Subjects(realm: "test").call(PatternShape(try RoutePattern("app://far/stuck")))
            cluster.memory.publish(subject, "_INBOX.1", Array(request.utf8), from: 0)
            #expect(await eventually { stuck.started.count == 2 })
            try #require(far.transport).take(.overflow)
            #expect(await call.value?.code == .unreachable)
            #expect(await eventually { answers.entries.last?.contains("unreachable") == true })
            #expect(await eventually { stuck.cancelled.count == 2 })
            cluster.memory.observe(nil)
            #expect(await near.balances())
            #expect(await far.balances())
        }
    }

    @Test func `a node that has lost requests tells their senders`() async throws {
        try await withCluster(.memory) { cluster in
            let near = try await cluster.node("near", heartbeat: .seconds(10))
            // The node receives the request, and loses it.
            let played = try await PlayedNode(in: cluster, sharing: "app://far/one", knownTo: near)
            let call = Task { await failure { try await near.bus.route("app://far/one") } }
            #expect(await eventually { played.heard.count == 1 })
            var hello = Announcement(.hello, of: played.id)
            hello.routes = ["app://far/one"]
            cluster.memory.publish(played.subjects.nodes, nil, hello.bytes, from: 0)
            #expect(await call.value?.code == .unreachable)
            await played.leave()
            // Observe the announcements of a node that has lost messages.
            let said = Journal<String>()
            let far = try await cluster.node("far", heartbeat: .seconds(10))
            cluster.memory.observe { subject, _, payload in
                if subject == played.subjects.nodes { said.add(String(decoding: payload, as: UTF8.self)) }
            }
            try #require(far.transport).take(.overflow)
            #expect(await eventually { said.entries.contains { $0.contains(#""kind":"hello""#) } })
            cluster.memory.observe(nil)
            #expect(await near.balances())
        }
    }

    @Test func `a leaving node receives no requests, whatever its program registers meanwhile`() async throws
    {
        try await withCluster(.memory) { cluster in
            let (started, end) = (Gate(), Gate())
            let handled = Journal<String>()
            func instance(_ name: String) async throws -> TestCluster.Node {
                try await cluster.node(name) { bus in
                    try bus.share("app://far/**")
                    try bus.register("app://far/one") { _ in handled.add(name) }
                    try bus.register("app://far/stuck/\(name)") { _ in
                        started.open()
                        await end.wait()
                    }
                }
            }
            let first = try await instance("first")
            _ = try await instance("second")
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/stuck/first"))
            #expect(await near.knows("app://far/stuck/second"))
            let call = Task { try await near.bus.route("app://far/stuck/first") }
            await started.wait()
            first.node.beginGracefulShutdown()
            #expect(await eventually { near.node.members.map(\.name) == ["second"] })
            try first.bus.register("app://far/late") { _ in }
            try await Task.sleep(for: .milliseconds(20))
            for _ in 0..<20 { try await near.bus.route("app://far/one", as: Void.self) }
            #expect(Set(handled.entries) == ["second"])
            end.open()
            _ = try await call.value
            try await first.leave()
        }
    }
}

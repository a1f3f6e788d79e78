import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillNATSTestSupport
import WaybillRouting
import WaybillTestSupport

@testable import WaybillNATS

/// The limits of a node for clients that are not nodes.
@Suite(.timeLimit(.minutes(1)))
struct ClientLimitTests {
    private static let subjects = Subjects(realm: "test")

    private static func call(_ pattern: String) throws -> String {
        self.subjects.call(PatternShape(try RoutePattern(pattern)))
    }

    private static func request(_ url: String, id: Int = 7, padding: Int = 0) -> [UInt8] {
        let text = String(repeating: "x", count: padding)
        return Array(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(url)","params":{"text":"\#(text)"}}"#.utf8)
    }

    /// Runs a node with a handler that waits, and collects the answers to `client.*` and to made-up nodes.
    private static func withNode(
        _ body: (TestCluster, TestCluster.Node, Gate, Journal<String>) async throws -> Void
    ) async throws {
        try await withCluster(.memory) { cluster in
            let gate = Gate()
            let node = try await cluster.node("far", requestsOfClients: 200, requestsOfNodes: 300) { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/wait") { _ -> Int in
                    await gate.wait()
                    return 1
                }
                try bus.register("app://far/large") { _ in String(repeating: "y", count: 400_000) }
                try bus.register("app://far/honest") { _ in "ok" }
            }
            let answers = Journal<String>()
            cluster.memory.observe { subject, _, bytes in
                guard subject.hasPrefix("client.") || subject.contains(".inbox.forged") else { return }
                #expect(bytes.count <= 1 << 20)
                answers.add(String(decoding: bytes.prefix(300), as: UTF8.self))
            }
            try await body(cluster, node, gate, answers)
            gate.open()
            #expect(await node.balances())
            cluster.memory.observe(nil)
        }
    }

    @Test(arguments: ["client.", "waybill.test.inbox.forged"])
    func `clients' requests with distinct reply subjects share one limit`(prefix: String) async throws {
        try await Self.withNode { cluster, node, gate, answers in
            let subject = try Self.call("app://far/wait")
            for number in 0..<1000 {
                let reply = prefix + (prefix.hasSuffix(".") ? "\(number)" : "\(number).1")
                cluster.memory.publish(subject, reply, Self.request("app://far/wait"), from: 0)
            }
            #expect(await eventually { answers.entries.count { $0.contains("mailboxFull") } == 800 })
            #expect(node.node.core.budget.count(of: .clients) == 200)
            gate.open()
            #expect(await eventually { answers.entries.count { $0.contains("\"result\":1") } == 200 })
            #expect(await eventually { node.node.core.budget.count(of: .clients) == 0 })
            cluster.memory.publish(
                try Self.call("app://far/honest"),
                "client.honest",
                Self.request("app://far/honest"),
                from: 0
            )
            #expect(await eventually { answers.entries.last?.contains("\"result\":\"ok\"") == true })
            #expect(await eventually { await node.sessionCount == 0 })
        }
    }

    @Test
    func `clients' requests have a limit in bytes`() async throws {
        try await Self.withNode { cluster, node, _, answers in
            let subject = try Self.call("app://far/wait")
            for number in 0..<80 {
                let request = Self.request("app://far/wait", padding: 1_000_000)
                cluster.memory.publish(subject, "client.\(number)", request, from: 0)
            }
            #expect(await eventually { answers.entries.count { $0.contains("mailboxFull") } == 80 - 67 })
            #expect(node.node.core.budget.count(of: .clients) == 67)
        }
    }

    @Test
    func `an event counts until its handler has returned, even after its deadline`() async throws {
        try await Self.withNode { cluster, node, gate, answers in
            let subject = try Self.call("app://far/wait")
            let headers = [
                (name: "ce-specversion", value: "1.0"), ("ce-id", "1"), ("ce-source", "/c"), ("ce-type", "t"),
                ("ce-expirytime", "2020-01-01T00:00:00Z"),
            ]
            func send(_ headers: [(name: String, value: String)], count: Int) {
                for number in 0..<count {
                    cluster.memory.publish(subject, "client.\(number)", [], headers: headers, from: 0)
                }
            }
            send(headers, count: 10)
            #expect(await eventually { answers.entries.count { $0.contains("deadlineExceeded") } == 10 })
            #expect(await eventually { node.node.core.budget.count(of: .clients) == 0 })
            let soon = Timestamp.text(Timestamp.now + 3)
            send(headers.dropLast() + [(name: "ce-expirytime", value: soon)], count: 300)
            #expect(await eventually { answers.entries.count { $0.contains("mailboxFull") } == 100 })
            #expect(await eventually { answers.entries.count { $0.contains("deadlineExceeded") } == 210 })
            #expect(node.node.core.budget.count(of: .clients) == 200)
            gate.open()
            #expect(await eventually { node.node.core.budget.count(of: .clients) == 0 })
        }
    }

    @Test
    func `the headers of events count as bytes of their clients`() async throws {
        try await Self.withNode { cluster, node, _, _ in
            let headers = [
                (name: "ce-specversion", value: "1.0"), ("ce-id", "1"), ("ce-source", "/c"), ("ce-type", "t"),
                ("ce-big", String(repeating: "x", count: 1_000_000)),
            ]
            let subject = try Self.call("app://far/wait")
            for number in 0..<10 {
                cluster.memory.publish(subject, "client.\(number)", [], headers: headers, from: 0)
            }
            let budget = node.node.core.budget
            #expect(await eventually { budget.count(of: .clients) == 10 })
            // The limit is 64 MiB, of which the events use 10 MB.
            #expect(budget.hasRoom(forRequests: 1, size: 50_000_000, of: .clients))
            #expect(!budget.hasRoom(forRequests: 1, size: 60_000_000, of: .clients))
        }
    }

    @Test
    func `requests of nodes that a client has forged share one limit`() async throws {
        try await Self.withNode { cluster, node, gate, answers in
            let subject = try Self.call("app://far/wait")
            // A node without a subscription counts as gone when it is asked for its state.
            let listener = cluster.memory.transport()
            try await listener.open(on: node.bus.eventLoop) { _ in true }
            for number in 0..<10 {
                let forged = try #require(NodeID("forged\(number)"))
                for subject in [
                    Self.subjects.members(forged), Self.subjects.node(forged), Self.subjects.inboxes(forged),
                ] {
                    listener.subscribe(subject, queue: nil)
                }
                let hello = Announcement(.hello, of: forged)
                cluster.memory.publish(Self.subjects.nodes, nil, hello.bytes, from: 0)
                for id in 1...100 {
                    let (reply, request) = (
                        Self.subjects.inbox(forged, id), Self.request("app://far/wait", id: id)
                    )
                    cluster.memory.publish(subject, reply, request, from: 0)
                }
            }
            #expect(await eventually { node.node.core.budget.count(of: .nodes) == 300 })
            // Answers to one node arrive joined, so they cannot be counted here.
            #expect(await eventually { answers.entries.contains { $0.contains("mailboxFull") } })
            #expect(node.node.core.budget.count(of: .nodes) == 300)
            gate.open()
            #expect(await eventually { node.node.core.budget.count(of: .nodes) == 0 })
            await listener.close()
        }
    }

    @Test
    func `a request beyond the limit of all nodes fails for its caller`() async throws {
        try await withCluster(.memory) { cluster in
            let gate = Gate()
            _ = try await cluster.node("far", requestsOfNodes: 2) { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/wait") { _ in await gate.wait() }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/wait"))
            let codes = Journal<RoutingError.Code?>()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        do {
                            try await near.bus.route("app://far/wait")
                            codes.add(nil)
                        } catch let error as RoutingError {
                            codes.add(error.rootCause.code)
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
                #expect(await eventually { codes.count == 8 })
                gate.open()
            }
            #expect(codes.entries.count { $0 == .mailboxFull } == 8)
            #expect(codes.entries.count { $0 == nil } == 2)
        }
    }

    @Test
    func `clients' notifications share the limit until their handlers have returned`() async throws {
        try await withCluster(.memory) { cluster in
            let gate = Gate()
            let node = try await cluster.node("far", requestsOfClients: 200) { bus in
                try bus.share("app://far/**", for: .all)
                try bus.register("app://far/wait") { _ in await gate.wait() }
            }
            let subject = try Self.call("app://far/wait")
            let notification = Array(#"{"jsonrpc":"2.0","method":"app://far/wait"}"#.utf8)
            for _ in 0..<1000 { cluster.memory.publish(subject, nil, notification, from: 0) }
            #expect(await eventually { node.bus.statistics.sent == 200 })
            try await Task.sleep(for: .milliseconds(50))
            #expect(node.bus.statistics.sent == 200)
            #expect(node.node.core.budget.count(of: .clients) == 200)
            gate.open()
            #expect(await eventually { node.node.core.budget.count(of: .clients) == 0 })
            #expect(await node.balances())
        }
    }

    @Test
    func `a client's request is charged after its deadline, until its handler has returned`() async throws {
        try await Self.withNode { cluster, node, gate, answers in
            let subject = try Self.call("app://far/wait")
            // The time is long enough for all handlers to start before the deadline, also under a sanitizer.
            let request =
                #"{"jsonrpc":"2.0","id":1,"method":"app://far/wait","params":{"$waybill":{"timeLeft":3000}}}"#
            for number in 0..<200 {
                cluster.memory.publish(subject, "client.\(number)", Array(request.utf8), from: 0)
            }
            #expect(await eventually { answers.entries.count { $0.contains("deadlineExceeded") } == 200 })
            for number in 200..<1000 {
                cluster.memory.publish(subject, "client.\(number)", Self.request("app://far/wait"), from: 0)
            }
            #expect(await eventually { answers.entries.count { $0.contains("mailboxFull") } == 800 })
            #expect(node.node.core.budget.count(of: .clients) == 200)
            gate.open()
            #expect(await eventually { node.node.core.budget.count(of: .clients) == 0 })
        }
    }

    @Test
    func `clients' publications share one limit, whatever nodes they name`() async throws {
        try await withCluster(.memory) { cluster in
            let gate = Gate()
            let node = try await cluster.node("far", requestsOfClients: 200) { bus in
                try bus.share("app://far/**", for: .publishing)
                try bus.subscribe("app://far/news") { _ in await gate.wait() }
            }
            let address = try RouteTable<Void>().address(of: "app://far/news")
            let publication = Array(
                #"{"jsonrpc":"2.0","method":"$/publish","params":{"url":"app://far/news"}}"#.utf8
            )
            let request = try Self.call("app://far/news")
            for number in 0..<1000 {
                let reply = "waybill.test.inbox.forged\(number).1"
                let subject = Self.subjects.publication(address)
                cluster.memory.publish(subject, reply, publication, from: 0)
                // A request of a client is not accepted as a publication, because that would circumvent the
                // limit.
                cluster.memory.publish(request, reply, publication, from: 0)
            }
            #expect(await eventually { node.bus.statistics.sent >= 200 })
            try await Task.sleep(for: .milliseconds(50))
            #expect(node.bus.statistics.sent <= 201)
            gate.open()
            #expect(await node.balances())
        }
    }

    @Test
    func `texts that take quadratic time to compare do not block a node`() async throws {
        try await Self.withNode { cluster, _, _, answers in
            let marks = "e" + String(repeating: "\u{301}\u{316}", count: 200_000)
            // A server takes subjects of some 4 KB.
            let short = "e" + String(repeating: "\u{301}\u{316}", count: 500)
            let (subject, request) = (try Self.call("app://far/honest"), Self.request("app://far/honest"))
            for number in 0..<10 {
                cluster.memory.publish(
                    subject,
                    "client.1.\(number)",
                    request,
                    headers: [(marks, "x")],
                    from: 0
                )
                cluster.memory.publish(
                    subject,
                    "client.2.\(number)",
                    request,
                    headers: [("content-type", marks)],
                    from: 0
                )
                cluster.memory.publish(subject, "client.\(number).\(short)", request, from: 0)
            }
            #expect(await eventually { answers.entries.count { $0.contains("\"result\":\"ok\"") } == 30 })
        }
    }

    @Test
    func `a batch answer that is too large for the server is replaced by an error`() async throws {
        try await Self.withNode { cluster, _, _, answers in
            let requests = (0..<4).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"app://far/large"}"# }
            let batch = Array("[\(requests.joined(separator: ","))]".utf8)
            cluster.memory.publish(try Self.call("app://far/large"), "client.1", batch, from: 0)
            #expect(await eventually { answers.entries.count == 1 })
            let answer = answers.entries.first ?? ""
            #expect(answer.contains("\"id\":null") && answer.contains("notTransferable"))
            #expect(answer.contains("but the server accepts at most 1048576"))
        }
    }
}

/// A node whose announcements are forged.
@Suite(.timeLimit(.minutes(1)))
struct ForgedAnnouncementTests {
    private static let subjects = Subjects(realm: "test")

    private static func forged(_ kind: Announcement.Kind, _ node: TestCluster.Node, epoch: Int) -> [UInt8] {
        var announcement = Announcement(kind, of: node.node.core.id)
        announcement.epoch = epoch
        return announcement.bytes
    }

    private static func withNodes(
        _ body: (TestCluster, _ near: TestCluster.Node, _ far: TestCluster.Node) async throws -> Void
    ) async throws {
        try await withCluster(.memory) { cluster in
            let far = try await cluster.node("far", heartbeat: .milliseconds(50)) { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/honest") { _ in "ok" }
            }
            // The near node does not miss a heartbeat, even if the machine halts for a moment.
            let near = try await cluster.node("near", heartbeat: .seconds(10))
            #expect(await near.knows("app://far/honest"))
            try await body(cluster, near, far)
        }
    }

    @Test(arguments: [Announcement.Kind.hello, .state, .bye])
    func `a forged epoch that is far ahead does not disturb calls`(kind: Announcement.Kind) async throws {
        try await Self.withNodes { cluster, near, far in
            for _ in 0..<100 {
                cluster.memory.publish(
                    Self.subjects.nodes,
                    nil,
                    Self.forged(kind, far, epoch: 1 << 52),
                    from: 0
                )
                let reply: String = try await near.bus.route("app://far/honest")
                #expect(reply == "ok")
            }
        }
    }

    @Test
    func `a forged epoch that is far ahead does not disturb calls after a forged heartbeat`() async throws {
        try await Self.withNodes { cluster, near, far in
            for _ in 0..<100 {
                for (kind, epoch) in [(Announcement.Kind.beat, 0), (.hello, 1 << 52)] {
                    let bytes = Self.forged(kind, far, epoch: epoch)
                    cluster.memory.publish(Self.subjects.nodes, nil, bytes, from: 0)
                }
                let reply: String = try await near.bus.route("app://far/honest")
                #expect(reply == "ok")
            }
        }
    }

    @Test(arguments: [
        (Announcement.Kind.hello, true), (.hello, false), (.state, true), (.state, false), (.bye, true),
        (.bye, false),
    ])
    func `a node whose announcements are forged announces its patterns again`(
        kind: Announcement.Kind,
        isSaidToAll: Bool
    ) async throws {
        try await Self.withNodes { cluster, near, far in
            let subject = isSaidToAll ? Self.subjects.nodes : Self.subjects.members(near.node.core.id)
            cluster.memory.publish(subject, nil, Self.forged(kind, far, epoch: 100), from: 0)
            // The node has read the announcement when this closure runs on its loop.
            await withCheckedContinuation { waiter in near.bus.eventLoop.execute { waiter.resume() } }
            #expect(await near.knows("app://far/honest"))
            let reply: String = try await near.bus.route("app://far/honest")
            #expect(reply == "ok")
        }
    }
}

extension TestCluster.Node {
    /// The number of sessions with clients and nodes.
    fileprivate var sessionCount: Int { get async { await self.node.core.sessions.count } }
}

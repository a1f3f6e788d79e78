import Testing
import WaybillRouting

@testable import WaybillNATS

struct ClusterStateTests {
    typealias Instant = ContinuousClock.Instant

    private static func state(own: NodeID = .random()) -> ClusterState {
        ClusterState(own: own, table: RouteTable())
    }

    private static func announcement(
        _ kind: Announcement.Kind,
        _ node: NodeID,
        epoch: Int,
        routes: [String] = [],
        removed: [String] = []
    ) -> Announcement {
        var announcement = Announcement(kind, of: node)
        announcement.epoch = epoch
        announcement.routes = routes
        announcement.removedRoutes = removed
        return announcement
    }

    @Test func `a new node receives the state, and its routes are known`() {
        var state = Self.state()
        let node = NodeID.random()
        let hello = Self.announcement(.hello, node, epoch: 1, routes: ["app://user/:id"])
        #expect(state.receive(hello, at: .now) == [.learned(node), .answer(node)])
        let shape = state.shape(for: "app://user/7")
        #expect(shape.map { state.nodes(sharing: $0) } == [node])
        #expect(state.shape(for: "app://other") == nil)
        #expect(state.suggestions(for: "app://usr/7") == ["app://user/:id"])
    }

    @Test func `a missed change is followed by a request for the node's state, and an old change is not`() {
        var state = Self.state()
        let node = NodeID.random()
        _ = state.receive(Self.announcement(.state, node, epoch: 1, routes: ["app://a"]), at: .now)
        #expect(state.receive(Self.announcement(.beat, node, epoch: 1), at: .now) == [])
        let later = Self.announcement(.change, node, epoch: 3, routes: ["app://c"])
        #expect(state.receive(later, at: .now) == [.ask(node)])
        #expect(state.shape(for: "app://c") == nil)
        let next = Self.announcement(.change, node, epoch: 2, routes: ["app://b"], removed: ["app://a"])
        #expect(state.receive(next, at: .now) == [.learned(node)])
        #expect(state.shape(for: "app://a") == nil)
        #expect(state.shape(for: "app://b") != nil)
        // Replayed announcements change nothing.
        #expect(state.receive(next, at: .now) == [])
        #expect(state.receive(Self.announcement(.state, node, epoch: 1), at: .now) == [])
        #expect(state.shape(for: "app://b") != nil)
    }

    @Test func `a hello without patterns fails requests to the node, and changes no routes`() throws {
        var state = Self.state()
        let (node, stranger) = (NodeID.random(), NodeID.random())
        func hello(_ node: NodeID) throws -> Announcement {
            let hello = Self.announcement(.hello, node, epoch: 2, routes: ["app://a", "app://b"])
            return try #require(Announcement(hello.withoutPatterns.bytes))
        }
        _ = state.receive(Self.announcement(.state, node, epoch: 1, routes: ["app://a"]), at: .now)
        let known = try #require(state.members[node])
        #expect(state.receive(try hello(node), at: .now) == [.returned(known), .answer(node)])
        #expect(state.members[node]?.routes == ["app://a"])
        #expect(state.receive(try hello(stranger), at: .now) == [.answer(stranger)])
        // The state of the node is still unknown.
        let beat = Self.announcement(.beat, stranger, epoch: 2)
        #expect(state.receive(beat, at: .now) == [.ask(stranger)])
    }

    @Test func `late messages of a node that has left do not add it again`() {
        var state = Self.state()
        let node = NodeID.random()
        _ = state.receive(Self.announcement(.state, node, epoch: 1, routes: ["app://a"]), at: .now)
        let actions = state.receive(Self.announcement(.bye, node, epoch: 1), at: .now)
        #expect(actions.count == 1)
        #expect(state.receive(Self.announcement(.beat, node, epoch: 1), at: .now) == [.ask(node)])
        #expect(state.members.isEmpty)
        #expect(state.shape(for: "app://a") == nil)
    }

    @Test func `a leaving node is dropped when it is silent, and its patterns are known until then`() {
        var state = Self.state()
        let node = NodeID.random()
        let start = Instant.now
        _ = state.receive(Self.announcement(.state, node, epoch: 1, routes: ["app://a"]), at: start)
        _ = state.receive(Self.announcement(.bye, node, epoch: 1), at: start)
        _ = state.receive(Self.announcement(.beat, node, epoch: 1), at: start + .seconds(2))
        #expect(state.expire(at: start + .seconds(4)).gone.isEmpty)
        let (lost, gone) = state.expire(at: start + .seconds(5))
        #expect(lost.isEmpty)
        #expect(gone.map(\.routes) == [["app://a"]])
        #expect(state.expire(at: start + .seconds(9)).gone.isEmpty)
    }

    @Test func `a silent node is dropped, and asked for its state when it returns`() {
        var state = Self.state()
        let node = NodeID.random()
        let start = Instant.now
        _ = state.receive(Self.announcement(.state, node, epoch: 4, routes: ["app://a"]), at: start)
        #expect(state.expire(at: start + .seconds(2)).lost.isEmpty)
        #expect(state.expire(at: start + .seconds(3)).lost.map(\.id) == [node])
        #expect(state.shape(for: "app://a") == nil)
        let beat = Self.announcement(.beat, node, epoch: 4)
        #expect(state.receive(beat, at: start) == [.greet(node), .ask(node)])
        #expect(state.receive(beat, at: start) == [.ask(node)])
    }

    @Test func `an announcement with the last possible epoch is ignored`() throws {
        var state = Self.state()
        let node = NodeID.random()
        func announcement(_ kind: String, _ epoch: Int) -> Announcement? {
            Announcement(Array(#"{"kind":"\#(kind)","node":"\#(node)","epoch":\#(epoch)}"#.utf8))
        }
        #expect(announcement("state", .max) == nil && announcement("state", -1) == nil)
        let last = try #require(announcement("state", 1 << 53))
        #expect(state.receive(last, at: .now) == [.learned(node)])
        let change = try #require(announcement("change", 0))
        #expect(state.receive(change, at: .now) == [])
    }

    @Test func `an impossible epoch is ignored, and no request is reported as lost`() {
        var state = Self.state()
        let node = NodeID.random()
        let start = Instant.now
        _ = state.receive(Self.announcement(.state, node, epoch: 3, routes: ["app://a"]), at: start)
        for kind in [Announcement.Kind.hello, .state, .change, .beat, .bye] {
            #expect(state.receive(Self.announcement(kind, node, epoch: 1 << 40), at: start) == [])
        }
        #expect(state.shape(for: "app://a") != nil)
        // A thousand changes take a second.
        let later = Self.announcement(.state, node, epoch: 4000, routes: ["app://b"])
        #expect(state.receive(later, at: start + .seconds(2)) == [])
        #expect(state.receive(later, at: start + .seconds(4)) == [.learned(node)])
        #expect(state.shape(for: "app://b") != nil)
    }

    @Test func `a node that announces an epoch before the known one is asked, and believed`() {
        var state = Self.state()
        let node = NodeID.random()
        let start = Instant.now
        let truth = Self.announcement(.state, node, epoch: 3, routes: ["app://a"])
        _ = state.receive(truth, at: start)
        _ = state.receive(Self.announcement(.state, node, epoch: 900), at: start)
        #expect(state.shape(for: "app://a") == nil)
        #expect(state.receive(truth, at: start) == [])
        #expect(state.receive(Self.announcement(.beat, node, epoch: 3), at: start) == [.ask(node)])
        #expect(state.receive(truth, at: start) == [.learned(node)])
        #expect(state.shape(for: "app://a") != nil)
        #expect(state.receive(Self.announcement(.beat, node, epoch: 3), at: start) == [])
    }

    @Test func `a forged early epoch does not make an impossible epoch acceptable`() {
        var state = Self.state()
        let node = NodeID.random()
        let start = Instant.now
        let truth = Self.announcement(.state, node, epoch: 3, routes: ["app://a"])
        _ = state.receive(truth, at: start)
        for second in 0..<10 {
            let now = start + .seconds(second)
            #expect(state.receive(Self.announcement(.beat, node, epoch: 0), at: now) == [.ask(node)])
            #expect(state.receive(Self.announcement(.hello, node, epoch: 1 << 40), at: now) == [])
            #expect(state.shape(for: "app://a") != nil)
            // The node answers the request for its state.
            #expect(state.receive(truth, at: now) == [.learned(node)])
        }
    }

    @Test func `a node whose first epoch was forged is believed when nothing confirms the forged epoch`() {
        var state = Self.state()
        let node = NodeID.random()
        let start = Instant.now
        _ = state.receive(Self.announcement(.hello, node, epoch: 1 << 40), at: start)
        let beat = Self.announcement(.beat, node, epoch: 3)
        for second in 0...3 {
            #expect(state.receive(beat, at: start + .seconds(second)) == [.ask(node)])
        }
        let truth = Self.announcement(.state, node, epoch: 3, routes: ["app://a"])
        #expect(state.receive(truth, at: start + .seconds(3)) == [.learned(node)])
        #expect(state.shape(for: "app://a") != nil)
    }

    @Test func `a heartbeat does not change the interval after which a silent node is dropped`() {
        var state = Self.state()
        let node = NodeID.random()
        let start = Instant.now
        _ = state.receive(Self.announcement(.state, node, epoch: 3, routes: ["app://a"]), at: start)
        var forged = Self.announcement(.beat, node, epoch: 3)
        forged.interval = 1
        _ = state.receive(forged, at: start)
        #expect(state.expire(at: start + .seconds(1)).lost.isEmpty)
        #expect(state.expire(at: start + .seconds(3)).lost.map(\.id) == [node])
    }

    @Test func `a node that announces itself after a forged leave is a member again`() {
        var state = Self.state()
        let node = NodeID.random()
        let start = Instant.now
        _ = state.receive(Self.announcement(.state, node, epoch: 3, routes: ["app://a"]), at: start)
        _ = state.receive(Self.announcement(.bye, node, epoch: 3), at: start)
        #expect(state.receive(Self.announcement(.state, node, epoch: 3), at: start) == [])
        let truth = Self.announcement(.state, node, epoch: 4, routes: ["app://a"])
        #expect(state.receive(truth, at: start) == [.learned(node)])
        #expect(state.shape(for: "app://a") != nil && state.leaving.isEmpty)
        // A node that has not received the forged announcement is asked, and answers with the known epoch.
        _ = state.receive(Self.announcement(.bye, node, epoch: 4), at: start)
        #expect(state.receive(Self.announcement(.beat, node, epoch: 4), at: start) == [.ask(node)])
        #expect(state.receive(Self.announcement(.bye, node, epoch: 4), at: start) == [])
        #expect(state.receive(truth, at: start) == [.learned(node)])
        #expect(state.shape(for: "app://a") != nil && state.leaving.isEmpty)
        #expect(state.expire(at: start + .seconds(1)).gone.isEmpty)
    }

    @Test(arguments: [("app://u/*", "app://u/:id"), ("app://u/*.jpg", "app://u/:name.jpg")])
    func `a node keeps a shape until its last route of the shape is removed`(kept: String, removed: String) {
        var state = Self.state()
        let node = NodeID.random()
        let both = Self.announcement(.state, node, epoch: 1, routes: [kept, removed])
        _ = state.receive(both, at: .now)
        let first = Self.announcement(.change, node, epoch: 2, removed: [removed])
        #expect(state.receive(first, at: .now) == [.learned(node)])
        #expect(state.shape(for: "app://u/7.jpg").map { state.nodes(sharing: $0) } == [node])
        let second = Self.announcement(.change, node, epoch: 3, removed: [kept])
        #expect(state.receive(second, at: .now) == [.learned(node)])
        #expect(state.shape(for: "app://u/7.jpg") == nil)
    }

    @Test func `routes with different regular expressions have different shapes`() {
        var limits = RoutingLimits.default
        limits.allowsExpressionsOfPeers = true
        var state = ClusterState(own: .random(), table: RouteTable(limits: limits))
        let (numbers, names) = (NodeID.random(), NodeID.random())
        let pattern = #"app://item/:id(\d+)"#
        _ = state.receive(Self.announcement(.state, numbers, epoch: 1, routes: [pattern]), at: .now)
        let other = Self.announcement(.state, names, epoch: 1, routes: ["app://item/:name([a-z]+)"])
        _ = state.receive(other, at: .now)
        #expect(state.shape(for: "app://item/7").map { state.nodes(sharing: $0) } == [numbers])
        #expect(state.shape(for: "app://item/x").map { state.nodes(sharing: $0) } == [names])
    }

    @Test func `of many topics that conflict, a set searches only some and then accepts each URL`() {
        var state = Self.state()
        let node = NodeID.random()
        let topics = (0..<2_000).map { "app://news(/\($0))" }
        var announcement = Self.announcement(.state, node, epoch: 1)
        announcement.topics = Array(topics.prefix(10))
        _ = state.receive(announcement, at: .now)
        var isTaken = state.hasSubscribers(of: "app://other")
        #expect(!isTaken)
        announcement = Self.announcement(.state, node, epoch: 2)
        announcement.topics = topics
        _ = state.receive(announcement, at: .now)
        isTaken = state.hasSubscribers(of: "app://other")
        #expect(isTaken)
        announcement = Self.announcement(.change, node, epoch: 3)
        announcement.removedTopics = topics
        _ = state.receive(announcement, at: .now)
        for url in ["app://other", "app://news/7"] {
            isTaken = state.hasSubscribers(of: url)
            #expect(!isTaken)
        }
    }

    @Test func `routes that conflict are found when the routes before them are removed`() {
        var state = Self.state()
        let node = NodeID.random()
        let routes = (0..<500).map { "app://item(/\($0))" }
        _ = state.receive(Self.announcement(.state, node, epoch: 1, routes: routes), at: .now)
        let change = Self.announcement(.change, node, epoch: 2, removed: Array(routes.dropLast()))
        _ = state.receive(change, at: .now)
        #expect(state.shape(for: "app://item/499").map { state.nodes(sharing: $0) } == [node])
        #expect(state.shape(for: "app://item/1") == nil)
    }

    @Test func `a topic is kept until the last pattern of its shape is removed`() {
        var state = Self.state()
        let node = NodeID.random()
        var announcement = Self.announcement(.state, node, epoch: 1)
        announcement.topics = (0..<1000).map { "app://news/:n\($0)" }
        _ = state.receive(announcement, at: .now)
        var isTaken = state.hasSubscribers(of: "app://news/x")
        #expect(isTaken)
        announcement = Self.announcement(.change, node, epoch: 2)
        announcement.removedTopics = (1..<1000).map { "app://news/:n\($0)" }
        _ = state.receive(announcement, at: .now)
        isTaken = state.hasSubscribers(of: "app://news/x")
        #expect(isTaken)
        announcement = Self.announcement(.change, node, epoch: 3)
        announcement.removedTopics = ["app://news/:n0"]
        _ = state.receive(announcement, at: .now)
        isTaken = state.hasSubscribers(of: "app://news/x")
        #expect(!isTaken)
    }

    @Test func `nodes with patterns of the same shape share requests, also after one of them leaves`() {
        var state = Self.state()
        let (first, second, third) = (NodeID.random(), NodeID.random(), NodeID.random())
        _ = state.receive(Self.announcement(.state, first, epoch: 1, routes: ["app://user/:id"]), at: .now)
        _ = state.receive(Self.announcement(.state, second, epoch: 1, routes: ["app://user/:uid"]), at: .now)
        _ = state.receive(Self.announcement(.state, third, epoch: 1, routes: ["app://user/*"]), at: .now)
        #expect(state.shape(for: "app://user/1").map { state.nodes(sharing: $0) } == [first, second, third])
        for node in [first, third] { _ = state.drop(node) }
        #expect(state.shape(for: "app://user/1").map { state.nodes(sharing: $0) } == [second])
        _ = state.drop(second)
        #expect(state.shape(for: "app://user/1") == nil)
    }

    @Test func `a node's own messages are ignored, and so are unreadable patterns`() {
        let own = NodeID.random()
        var state = Self.state(own: own)
        #expect(state.receive(Self.announcement(.hello, own, epoch: 1, routes: ["app://a"]), at: .now) == [])
        let node = NodeID.random()
        let strange = Self.announcement(.state, node, epoch: 1, routes: ["app://a/:", "://", "", "app://ok"])
        _ = state.receive(strange, at: .now)
        #expect(state.shape(for: "app://ok") != nil)
    }

    /// Nodes change their shared patterns, and their announcements are lost, doubled and reordered at random.
    ///
    /// When a node answers the requests for its state, the state must be equal to a plain model.
    @Test(arguments: 0..<20)
    func `the state agrees with a model after lost, doubled and reordered announcements`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed + 1)
        let own = NodeID.random()
        var state = Self.state(own: own)
        var nodes = (0..<4).map { _ in (id: NodeID.random(), epoch: 1, routes: Set<String>()) }
        let patterns = ["app://a/:x", "app://a/b", "app://**", "app://c/<int:n>", "app://a/:y"]
        let urls = ["app://a/b", "app://a/z", "app://c/1", "app://c/x", "app://q/r/s"]
        var held: [Announcement] = []
        for _ in 0..<200 {
            let index = Int.random(in: nodes.indices, using: &generator)
            let pattern = patterns.randomElement(using: &generator)!
            nodes[index].epoch += 1
            let wasThere = nodes[index].routes.remove(pattern) != nil
            if !wasThere { nodes[index].routes.insert(pattern) }
            held.append(
                Self.announcement(
                    .change,
                    nodes[index].id,
                    epoch: nodes[index].epoch,
                    routes: wasThere ? [] : [pattern],
                    removed: wasThere ? [pattern] : []
                )
            )
            if Bool.random(using: &generator) { held.shuffle(using: &generator) }
            if Int.random(in: 0..<4, using: &generator) == 0, !held.isEmpty { held.removeLast() }
            while held.count > 3 {
                _ = state.receive(held[0], at: .now)
                if Bool.random(using: &generator) { held.removeFirst() }
            }
        }
        for node in nodes {
            for action in state.receive(Self.announcement(.beat, node.id, epoch: node.epoch), at: .now) {
                guard case .ask(node.id) = action else { continue }
                let answer = Self.announcement(
                    .state,
                    node.id,
                    epoch: node.epoch,
                    routes: node.routes.sorted()
                )
                #expect(state.receive(answer, at: .now) == [.learned(node.id)])
            }
            #expect(state.members[node.id]?.routes ?? [] == node.routes)
        }
        var table = RouteTable<Void>()
        for pattern in Set(nodes.flatMap(\.routes)).sorted() { _ = try? table.insert(pattern, ()) }
        for url in urls {
            let wanted = (try? table.match(url)) ?? nil
            let found = state.shape(for: url)
            #expect((found == nil) == (wanted == nil), "\(url)")
            if let found { #expect(!state.nodes(sharing: found).isEmpty) }
        }
        // When all nodes have left, no route is known.
        for node in nodes { _ = state.drop(node.id) }
        #expect(urls.allSatisfy { state.shape(for: $0) == nil })
    }
}

struct AnnouncementTests {
    /// Combining marks, whose hashing as the key of a dictionary takes quadratic time.
    private static let marks = String(repeating: "\u{301}\u{316}", count: 16)

    @Test func `an announcement is unchanged after writing and reading`() throws {
        var announcement = Announcement(.change, of: .random())
        announcement.name = "a \"name\""
        announcement.epoch = 7
        announcement.routes = ["app://a", "app://ü/**"]
        announcement.removedTopics = ["app://b"]
        #expect(Announcement(announcement.bytes) == announcement)
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"kind":"hello"}"#, #"{"kind":"hello","node":"A B","epoch":1}"#,
        #"{"kind":"hello","node":"abc","epoch":-1}"#, #"{"kind":"what","node":"abc","epoch":1}"#,
        #"{"kind":"state","node":"abc","epoch":1,"routes":[1]}"#,
        #"{"kind":"state","node":"abc","epoch":1,"routes":"app://a"}"#,
        #"{"kind":"state","node":"abc","epoch":1,"routes":[[[[[["deep"]]]]]]}"#,
        ##"{"kind":"state","node":"abc","epoch":1,"routes":["app://e\##(Self.marks)"]}"##,
        ##"{"kind":"state","node":"abc","epoch":1,"name":"e\##(Self.marks)"}"##,
    ])
    func `messages other than announcements are not parsed`(text: String) {
        #expect(Announcement(Array(text.utf8)) == nil)
    }
}

import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillRouting
import WaybillTestSupport

@testable import WaybillNATS

/// The promises of a bus about its routes, when the handlers are on other nodes.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ClusterTests {
    struct Invoice: Codable, Sendable, Equatable {
        let id: Int
        var total = 0.5
    }

    /// A value that cannot be sent to another node.
    struct Secret: Sendable {}

    @Test(arguments: TestCluster.Kind.allCases)
    func `a route of another node is called like a local one`(kind: TestCluster.Kind) async throws {
        try await withCluster(kind) { cluster in
            let billing = try await cluster.node("billing") { bus in
                try bus.share("app://billing/**")
                try bus.register("app://billing/invoice/:id") { message -> Invoice in
                    Invoice(id: try message.argument("id"), total: try message.argument("total"))
                }
                try bus.register("app://billing/about") { message -> [String] in
                    [message.headers["tenant"] ?? "", message.origin.transport ?? "", "\(message.hops)"]
                }
                try bus.register("app://private") { _ in 1 }
            }
            let shop = try await cluster.node("shop")
            #expect(await shop.knows("app://billing/invoice/:id"))
            let invoice: Invoice = try await shop.bus.route(
                "app://billing/invoice/7",
                parameters: ["total": 1.5]
            )
            #expect(invoice == Invoice(id: 7, total: 1.5))
            let about: [String] = try await shop.bus.route("app://billing/about", headers: ["tenant": "a"])
            #expect(about == ["a", "nats", "1"])
            #expect(shop.bus.canRoute("app://billing/about"))
            #expect(!shop.bus.canRoute("app://private"))
            let error = await #expect(throws: RoutingError.self) { try await shop.bus.route("app://private") }
            #expect(error?.code == .noRoute)
            let mistyped = await #expect(throws: RoutingError.self) {
                try await shop.bus.route("app://billing/abuot")
            }
            #expect(mistyped?.code == .noRoute)
            #expect(mistyped?.message.contains("app://billing/about") == true)
            #expect(await shop.balances())
            #expect(await billing.balances())
            #expect(shop.node.statistics.sent == 2)
            #expect(billing.node.statistics.received == 2)
        }
    }

    @Test
    func `an error that a module declares keeps its type across nodes`() async throws {
        try await withCluster(.memory) { cluster in
            _ = try await cluster.node("orders") { bus in
                try bus.share("app://orders/**")
                try bus.register("app://orders/:id") { message -> Int in
                    throw OrderError.unknown(id: try message.argument("id"))
                }
            }
            let shop = try await cluster.node("shop")
            #expect(await shop.knows("app://orders/:id"))
            let error = await #expect(throws: RoutingError.self) {
                try await shop.bus.route("app://orders/8")
            }
            #expect(error?.declared(as: OrderError.self) == .unknown(id: 8))
            #expect(error?.message == "there is no order 8")
        }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `a local route takes precedence, and two remote nodes share the calls`(
        kind: TestCluster.Kind
    ) async throws {
        try await withCluster(kind) { cluster in
            for name in ["a", "b"] {
                _ = try await cluster.node(name) { bus in
                    try bus.share("app://work/**")
                    try bus.register("app://work/:job") { _ in name }
                }
            }
            let own = try await cluster.node("own") { bus in
                try bus.register("app://work/here") { _ in "own" }
            }
            #expect(await eventually { own.node.members.filter { !$0.routes.isEmpty }.count == 2 })
            #expect(try await own.bus.route("app://work/here", as: String.self) == "own")
            var counts: [String: Int] = [:]
            for number in 0..<40 {
                counts[try await own.bus.route("app://work/\(number)", as: String.self), default: 0] += 1
            }
            #expect(Set(counts.keys) == ["a", "b"])
            #expect(counts.values.reduce(0, +) == 40)
        }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `the more specific of two nodes' patterns is called`(kind: TestCluster.Kind) async throws {
        try await withCluster(kind) { cluster in
            _ = try await cluster.node("users") { bus in
                try bus.share("app://user/**")
                try bus.register("app://user/:id") { message in "user \(message.parameters["id"] ?? "")" }
            }
            _ = try await cluster.node("me") { bus in
                try bus.share("app://user/me")
                try bus.register("app://user/me") { _ in "me" }
            }
            let caller = try await cluster.node("caller")
            #expect(await caller.knows("app://user/me"))
            #expect(await caller.knows("app://user/:id"))
            for _ in 0..<5 {
                #expect(try await caller.bus.route("app://user/me", as: String.self) == "me")
                #expect(try await caller.bus.route("app://user/you", as: String.self) == "user you")
            }
        }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `a failure from another node has its code, its message, its route and its cause`(
        kind: TestCluster.Kind
    ) async throws {
        try await withCluster(kind) { cluster in
            struct Broken: Error, CustomStringConvertible { let description = "the disk is full" }
            _ = try await cluster.node("far") { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/broken") { _ in throw Broken() }
                try bus.register("app://far/refused") { _ in throw RoutingError.refused("not for you") }
                try bus.register("app://far/number") { _ in 42 }
                try bus.register("app://far/secret") { _ in Secret() }
                try bus.register("app://far/needs") { message -> Int in try message.argument("count") }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/broken"))
            let broken = await self.failure("broken", near.bus)
            #expect(broken?.code == .handlerFailed)
            #expect(broken?.route == "app://far/broken")
            #expect(broken.map { "\($0)" }?.contains("the disk is full") == true)
            let refused = await self.failure("refused", near.bus)
            #expect(refused?.code == .refused)
            #expect(refused?.message.contains("not for you") == true)
            #expect(await self.failure("secret", near.bus)?.code == .notTransferable)
            #expect(await self.failure("needs", near.bus)?.code == .missingParameter)
            let mismatch = await #expect(throws: RoutingError.self) {
                try await near.bus.route("app://far/number", as: [String].self)
            }
            #expect(mismatch?.code == .typeMismatch)
            #expect(mismatch?.message.contains("String") == true)
            let own = await #expect(throws: RoutingError.self) {
                try await near.bus.route("app://far/number", parameters: ["secret": Secret()])
            }
            #expect(own?.code == .notTransferable)
            #expect(await near.balances())
        }
    }

    private func failure(_ path: String, _ bus: MessageBus) async -> RoutingError? {
        await #expect(throws: RoutingError.self) { try await bus.route("app://far/\(path)") }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `progress replies and their answers pass between nodes, and the handler waits for each`(
        kind: TestCluster.Kind
    ) async throws {
        try await withCluster(kind) { cluster in
            let far = try await cluster.node("far") { bus in
                try bus.share("app://pay/**")
                try bus.register("app://pay/start") { message async throws -> Int in
                    var sum = 0
                    for step in 1...5 { sum += try await message.reply(with: step, expecting: Int.self) }
                    return sum
                }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://pay/start"))
            var seen: [Int] = []
            let sum: Int = try await near.bus.route("app://pay/start") { (step: Int) in
                seen.append(step)
                return step * 10
            }
            #expect(sum == 150)
            #expect(seen == [1, 2, 3, 4, 5])
            #expect(await near.balances())
            #expect(await far.balances())
        }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `the remaining time and the cancellation reach the other node's handler`(
        kind: TestCluster.Kind
    ) async throws {
        try await withCluster(kind) { cluster in
            let started = Gate()
            let cancelled = Gate()
            let far = try await cluster.node("far") { bus in
                try bus.share("app://slow/**")
                try bus.register("app://slow/deadline") { message in message.deadline != nil }
                try bus.register("app://slow/for-ever") { _ async throws in
                    started.open()
                    do {
                        try await Task.sleep(for: .seconds(60))
                    } catch {
                        cancelled.open()
                        throw error
                    }
                }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://slow/for-ever"))
            let has: Bool = try await near.bus.route("app://slow/deadline", timeout: .seconds(5))
            #expect(has)
            #expect(try await near.bus.route("app://slow/deadline", as: Bool.self) == false)
            let late = await #expect(throws: RoutingError.self) {
                try await near.bus.route("app://slow/for-ever", timeout: Scale.untilBegun)
            }
            #expect(late?.code == .deadlineExceeded)
            await started.wait()
            await cancelled.wait()
            #expect(await near.balances())
            #expect(await far.balances())
        }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `a value for a return URL goes directly to the node that handles the return URL`(
        kind: TestCluster.Kind
    ) async throws {
        try await withCluster(kind) { cluster in
            let journal = Journal<String>()
            _ = try await cluster.node("orders") { bus in
                try bus.share("app://order/**")
                try bus.register("app://order/pay") { _ in 42 }
            }
            _ = try await cluster.node("receipts") { bus in
                try bus.share("app://receipt/**")
                try bus.register("app://receipt/take") { message in
                    journal.add(
                        "\(try message.payload(as: Int.self)) from \(message.origin.peer?.prefix(6) ?? "")"
                    )
                }
            }
            let caller = try await cluster.node("caller") { bus in
                try bus.register("app://own/take") { message in
                    journal.add("\(try message.payload(as: Int.self)) here")
                }
            }
            #expect(await caller.knows("app://order/pay"))
            #expect(await caller.knows("app://receipt/take"))
            #expect(try await caller.bus.route("app://order/pay#app://own/take", as: Int.self) == 42)
            #expect(await eventually { journal.entries == ["42 here"] })
            #expect(try await caller.bus.route("app://order/pay#app://receipt/take", as: Int.self) == 42)
            #expect(await eventually { journal.entries == ["42 here", "42 from orders"] })
        }
    }

    @Test func `a value that another node returns for a message of a store goes to the store`() async throws {
        final class Attempt: MessageSource {
            let returned = Journal<String>()

            func sendReturn(_ value: any Sendable, to url: String, headers: [String: String]) {
                self.returned.add(url)
            }
        }
        try await withCluster(.memory) { cluster in
            _ = try await cluster.node("orders") { bus in
                try bus.share("app://order/**")
                try bus.register("app://order/pay") { _ in 42 }
            }
            let taken = Tally()
            _ = try await cluster.node("receipts") { bus in
                try bus.share("app://receipt/**")
                try bus.register("app://receipt/take") { _ in taken.add() }
            }
            let caller = try await cluster.node("caller")
            #expect(await caller.knows("app://order/pay"))
            #expect(await caller.knows("app://receipt/take"))
            let attempt = Attempt()
            let reply = try await caller.bus.route(
                url: "app://order/pay#app://receipt/take",
                timeout: .seconds(30),
                source: attempt
            )
            #expect(try reply.value(as: Int.self) == 42)
            // The store writes the value in the commit that follows the reply.
            #expect(attempt.returned.entries == ["app://receipt/take"])
            #expect(taken.count == 0)
        }
    }

    @Test func `a value for a return URL that comes after another node's reply is dropped with a notice`()
        async throws
    {
        try await withCluster(.memory) { cluster in
            let (kept, log) = (Journal<Message>(), Journal<String>())
            _ = try await cluster.node("screens") { bus in
                try bus.share("app://screen/**")
                try bus.register("app://screen/pick") { message in
                    #expect(message.holdReturn())
                    kept.add(message)
                }
            }
            let caller = try await cluster.node("caller", log: log) { bus in
                try bus.register("app://own/take") { _ in Issue.record("the value was sent") }
            }
            #expect(await caller.knows("app://screen/pick"))
            _ = try await caller.bus.route("app://screen/pick#app://own/take")
            #expect(try #require(kept.entries.first).sendReturn(7))
            #expect(await eventually { log.entries.contains { $0.contains("after its request had ended") } })
        }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `a publication reaches the subscribers of each node once`(kind: TestCluster.Kind) async throws {
        try await withCluster(kind) { cluster in
            let journal = Journal<String>()
            for name in ["a", "b"] {
                _ = try await cluster.node(name) { bus in
                    // Both patterns match the subject, but the node receives each publication once.
                    try bus.share("app://news/**", for: .publishing)
                    try bus.share("app://news/*/today", for: .publishing)
                    try bus.subscribe("app://news/**/today") { message in
                        journal.add("\(name) \(message.address.text) \(message.parameters["n"] ?? "")")
                    }
                    try bus.subscribe("app://secret/**") { _ in journal.add("\(name) leaked") }
                }
            }
            let publisher = try await cluster.node("publisher") { bus in
                try bus.subscribe("app://news/**") { _ in journal.add("own") }
            }
            #expect(await eventually { publisher.node.members.filter { $0.topics.count == 2 }.count == 2 })
            for number in 0..<3 {
                #expect(try await publisher.bus.publish("app://news/x/today", parameters: ["n": number]) == 1)
            }
            try await publisher.bus.publish("app://news/x/tomorrow")
            try await publisher.bus.publish("app://secret/x")
            try await publisher.bus.publish("app://news/x/y/today?n=9")
            let wanted = ["a", "b"].flatMap { name in
                (0..<3).map { "\(name) app://news/x/today \($0)" } + ["\(name) app://news/x/y/today?n=9 9"]
            }
            #expect(
                await eventually { journal.entries.filter { $0 != "own" }.sorted() == wanted.sorted() }
            )
            #expect(journal.entries.filter { $0 == "own" }.count == 5)
        }
    }

    @Test func `a client's publication reaches a subscriber once if the shared patterns overlap`()
        async throws
    {
        try await withCluster(.memory) { cluster in
            let heard = Journal<String>()
            let far = try await cluster.node("far") { bus in
                for pattern in ["app://news/**", "app://news/today", "app://*/last", "app://*/:a/:b"] {
                    try bus.share(pattern, for: .publishing)
                }
                try bus.subscribe("app://**") { heard.add($0.address.text) }
            }
            func publish(_ path: String) {
                cluster.memory.publish(
                    "waybill.test.pub.app.\(path.replacing("/", with: "."))",
                    nil,
                    Array(
                        #"{"jsonrpc":"2.0","method":"$/publish","params":{"url":"app://\#(path)","parameters":{}}}"#
                            .utf8
                    ),
                    from: 0
                )
            }
            let paths = ["news/today", "news/last", "news/a/b", "old/last", "old/a/b", "end/last"]
            for path in paths { publish(path) }
            #expect(await eventually { heard.entries.last == "app://end/last" })
            #expect(heard.entries == paths.map { "app://\($0)" })
            // Patterns that are shared later do not double the messages either.
            try far.bus.share("app://**", for: .publishing)
            #expect(await eventually { await far.node.core.offer.topics.contains("app://**") })
            for path in paths { publish(path) }
            #expect(
                await eventually { heard.count >= 2 * paths.count && heard.entries.last == "app://end/last" }
            )
            #expect(heard.count == 2 * paths.count)
        }
    }

    @Test(arguments: [ClusterNode.PublicationFormat.jsonRPC, .structuredEvents, .binaryEvents])
    func `a URL without a scheme has the scheme of the sending bus`(
        format: ClusterNode.PublicationFormat
    ) async throws {
        try await withCluster(.memory) { cluster in
            let heard = Journal<String>()
            _ = try await cluster.node("far") { bus in
                for scheme in ["shop", "app"] {
                    try bus.share("\(scheme)://far/**", for: .all)
                    try bus.register("\(scheme)://far/one") { $0.address.scheme }
                    try bus.subscribe("\(scheme)://far/news") { heard.add($0.address.text) }
                }
            }
            let near = try await cluster.node("near", publicationFormat: format)
            #expect(await near.knows("shop://far/one"))
            for scheme in ["app", "shop"] {
                near.bus.defaultScheme = scheme
                #expect(near.bus.canRoute("/far/one"))
                let reply: String = try await near.bus.route("/far/one")
                #expect(reply == scheme)
                try await near.bus.publish("/far/news?n=1")
            }
            #expect(await eventually { heard.entries == ["app://far/news?n=1", "shop://far/news?n=1"] })
        }
    }

    @Test(arguments: [ClusterNode.PublicationFormat.jsonRPC, .structuredEvents, .binaryEvents])
    func `a publication reaches other nodes in any case if the conventions ignore the case`(
        format: ClusterNode.PublicationFormat
    ) async throws {
        var conventions = RoutingConventions.waybill
        conventions.segmentsIgnoreCase = true
        try await withCluster(.memory) { cluster in
            let heard = Journal<String>()
            _ = try await cluster.node("far", conventions: conventions) { bus in
                try bus.share("app://News/**", for: .publishing)
                try bus.subscribe("app://news/:day") { heard.add(try $0.argument("day")) }
            }
            let near = try await cluster.node("near", conventions: conventions, publicationFormat: format) {
                try $0.expose("app://news/**", for: .publishing)
            }
            #expect(await eventually { near.node.members.contains { !$0.topics.isEmpty } })
            try await near.bus.publish("app://NEWS/Today")
            // An event that arrived without a URL keeps the case of its URL.
            _ = try await near.bus.publish(
                ExternalRequest(
                    url: "app://NEWS/Later",
                    headers: ["ce-id": "1", "ce-source": "/c", "ce-type": "t"],
                    origin: MessageOrigin(transport: "http")
                )
            )
            #expect(await eventually { heard.entries == ["Today", "Later"] })
        }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `later registrations and shares become known, and withdrawn ones are removed`(
        kind: TestCluster.Kind
    ) async throws {
        try await withCluster(kind) { cluster in
            let far = try await cluster.node("far")
            let near = try await cluster.node("near")
            try far.bus.share("app://late/**")
            let route = try far.bus.register("app://late/one") { _ in 1 }
            try far.bus.register("app://late/two") { _ in 2 }
            #expect(await near.knows("app://late/one"))
            #expect(await near.knows("app://late/two"))
            #expect(try await near.bus.route("app://late/one", as: Int.self) == 1)
            route.cancel()
            // Before the announcement arrives, the answer of the other node reports the removed route.
            let error = await #expect(throws: RoutingError.self) {
                try await near.bus.route("app://late/one")
            }
            #expect(error?.code == .noRoute)
            #expect(try await near.bus.route("app://late/two", as: Int.self) == 2)
            #expect(await near.balances())
        }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `nodes of different realms do not know each other`(kind: TestCluster.Kind) async throws {
        try await withCluster(kind) { cluster in
            for realm in ["one", "two"] {
                _ = try await cluster.node("far-\(realm)", realm: realm) { bus in
                    try bus.share("app://realm")
                    try bus.register("app://realm") { _ in realm }
                }
            }
            let near = try await cluster.node("near", realm: "two")
            #expect(await near.knows("app://realm"))
            for _ in 0..<10 { #expect(try await near.bus.route("app://realm", as: String.self) == "two") }
            #expect(near.node.members.map(\.name) == ["far-two"])
        }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `a node that leaves loses no request of other nodes`(kind: TestCluster.Kind) async throws {
        try await withCluster(kind) { cluster in
            var instances: [TestCluster.Node] = []
            func add(_ number: Int) async throws {
                instances.append(
                    try await cluster.node("instance \(number)") { bus in
                        try bus.share("app://work/**")
                        try bus.register("app://work/:n") { message async throws -> Int in
                            try await Task.sleep(for: .milliseconds(1))
                            return try message.argument("n")
                        }
                    }
                )
            }
            for number in 0..<2 { try await add(number) }
            let caller = try await cluster.node("caller")
            #expect(await eventually { caller.node.members.filter { !$0.routes.isEmpty }.count == 2 })
            let isOver = Locked(false)
            let calls = Task {
                var count = 0
                while !isOver.withLock({ $0 }) {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for n in 0..<10 {
                            group.addTask {
                                let answer = try await caller.bus.route("app://work/\(n)", as: Int.self)
                                #expect(answer == n)
                            }
                        }
                        try await group.waitForAll()
                    }
                    count += 10
                }
                return count
            }
            for number in 2..<6 {
                try await add(number)
                try await instances[number - 2].leave()
            }
            isOver.withLock { $0 = true }
            #expect(try await calls.value > 0)
            #expect(caller.node.statistics.lost == 0)
            #expect(await caller.balances())
        }
    }

    @Test func `a node handles many large requests of another node at the same time`() async throws {
        try await withCluster(.memory) { cluster in
            let gate = Gate()
            let far = try await cluster.node("far", heartbeat: .seconds(10)) { bus in
                try bus.share("app://large/**")
                try bus.register("app://large/keep") { _ async in await gate.wait() }
            }
            let near = try await cluster.node("near", heartbeat: .seconds(10))
            #expect(await near.knows("app://large/keep"))
            let text = String(repeating: "x", count: 900_000)
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask { try await near.bus.route("app://large/keep", parameters: ["text": text]) }
                }
                #expect(await eventually { far.bus.statistics.inFlight == 20 })
                gate.open()
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `a message that is too large fails at its sender`(kind: TestCluster.Kind) async throws {
        try await withCluster(kind) { cluster in
            _ = try await cluster.node("far", heartbeat: .seconds(1)) { bus in
                try bus.share("app://large/**")
                try bus.register("app://large/take") { _ in 1 }
                try bus.register("app://large/give") { _ in String(repeating: "x", count: 2 << 20) }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://large/take"))
            let text = String(repeating: "x", count: 2 << 20)
            for (url, parameters) in [("app://large/take", ["text": text]), ("app://large/give", [:])] {
                let error = await #expect(throws: RoutingError.self) {
                    try await near.bus.route(url, parameters: parameters)
                }
                #expect(error?.code == .notTransferable)
            }
            #expect(try await near.bus.route("app://large/take", as: Int.self) == 1)
        }
    }

    @Test func `validate finds a shared route whose values cannot be sent to other nodes`() throws {
        let bus = MessageBus(configuration: .quiet)
        try bus.share("app://shared/**")
        try bus.register("app://shared/invoice") { _ in Invoice(id: 1) }
        try bus.register("app://shared/nothing") { _ in }
        try bus.register("app://shared/maybe") { _ -> Invoice? in nil }
        try bus.register("app://shared/secret") { _ in Secret() }
        try bus.register("app://own/secret") { _ in Secret() }
        let problems = bus.validate()
        #expect(problems.map(\.url) == ["app://shared/secret"])
        #expect(problems.map(\.code) == [.notTransferable])
    }
}

#if HTTP
import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillTestSupport

@testable import WaybillConsole

/// A diagram shows the events in the order in which they happened.
@Suite(.timeLimit(.minutes(2)))
struct DiagramTests {
    /// Registers modules that call one another at random, as the numbers in their URLs decide.
    private func makeBus() throws -> MessageBus {
        let bus = MessageBus(configuration: .quiet)
        for name in ["a", "b", "c"] {
            try bus.register("app://\(name)/:depth/:seed") { message -> Int in
                let depth = try message.parameters.require("depth", as: Int.self)
                var numbers = RandomNumbers(seed: try message.parameters.require("seed", as: Int.self))
                guard depth > 0 else { return numbers.next(10) }
                for _ in 0..<numbers.next(3) {
                    let url = "app://\(["a", "b", "c"][numbers.next(3)])/\(depth - 1)/\(numbers.next(1000))"
                    switch numbers.next(6) {
                    case 0: bus.send(url)
                    case 1: _ = try await bus.publish("app://topic/\(numbers.next(1000))")
                    case 2: await message.reply(with: "half; #1")
                    case 3: _ = try? await message.reply(with: 1, expecting: Bool.self)
                    case 4: _ = try await bus.route("\(url)#end/\(numbers.next(1000))", as: Int.self)
                    default:
                        _ = try? await bus.route(url, as: Int.self) { (_: any Sendable) in true }
                    }
                }
                if numbers.next(8) == 0 { throw RoutingError.refused("no") }
                return depth
            }
        }
        try bus.register("app://end/:seed") { _ in }
        try bus.subscribe("app://topic/:seed") { _ in }
        return bus
    }

    private struct RandomNumbers {
        var state: UInt64

        init(seed: Int) { self.state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1 }

        mutating func next(_ bound: Int) -> Int {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(self.state >> 33) % bound
        }
    }

    /// Returns the arrows of a flow's diagram, from the events that an observer of the bus has seen.
    private func arrows(of events: [MessageTrace.Event], in root: CorrelationID) -> [String] {
        var patterns: [CorrelationID: String] = [:]
        var members: Set<CorrelationID> = [root]
        var arrows: [String] = []
        for event in events {
            let id = event.message.id
            if let cause = event.cause, members.contains(cause) { members.insert(id) }
            guard members.contains(id) else { continue }
            patterns[id] = event.pattern ?? "no route"
            let (own, source) = (
                event.pattern ?? "no route", event.cause.flatMap { patterns[$0] } ?? "caller"
            )
            let isRequest = event.message.deliveryKind == .request
            switch event.kind {
            case .message: arrows.append("\(source) \(isRequest ? "->>" : "-)") \(own)")
            case .answer: arrows.append("\(source) ->> \(own)")
            case .progress, .reply: arrows.append("\(own) -->> \(source)")
            case .failure: arrows.append("\(own) --x \(source)")
            }
        }
        return arrows
    }

    /// Returns the arrows of a Mermaid diagram.
    private func arrows(of mermaid: String) -> [String] {
        var names: [Substring: Substring] = [:]
        var arrows: [String] = []
        for line in mermaid.split(separator: "\n").dropFirst() {
            let words = line.split(separator: " ")
            if words[0] == "participant" {
                names[words[1]] = line.firstRange(of: " as ").map { line[$0.upperBound...] }
            } else {
                for arrow in ["-->>", "->>", "--x", "-)"] {
                    guard let range = words[0].firstRange(of: arrow) else { continue }
                    let (from, to) = (words[0][..<range.lowerBound], words[0][range.upperBound...].dropLast())
                    arrows.append("\(names[from] ?? "?") \(arrow) \(names[to] ?? "?")")
                    break
                }
            }
        }
        return arrows
    }

    @Test
    func `the diagrams of two hundred flows have the arrows that an observer has seen`() async throws {
        let bus = try self.makeBus()
        let configuration = WaybillConsole.Configuration.quiet { configuration in
            (configuration.recording.flowsPerRoute, configuration.recording.followers) = (1e6, 1e6)
            configuration.recording.eventsPerFlow = 100_000
            configuration.lingering = .seconds(60)
        }
        try await ConsoleTestServer.run(bus, configuration) { server in
            let seen = Journal<MessageTrace.Event>()
            let registration = bus.observe { seen.add($0) }
            defer { registration.cancel() }
            try await server.watch {
                // The calls run on the loop of the bus, so all events have one order.
                await Probe(eventLoop: bus.eventLoop).run {
                    for seed in 0..<200 {
                        _ = await failure {
                            try await bus.route("app://a/4/\(seed)", timeout: .seconds(20)) {
                                (_: any Sendable) in true
                            }
                        }
                    }
                }
                #expect(await bus.settles())
            } until: { log in
                bus.statistics.inFlight == 0 && log.number("counted").map { $0 > 300 } == true
            }
            let events = seen.entries
            let roots = events.filter { event in
                if case .message = event.kind { event.cause == nil } else { false }
            }.map(\.message.id)
            #expect(roots.count == 200)
            var arrows = 0
            for root in roots {
                let answer = try await server.get("api/flows/\(root)")
                let mermaid = answer.json?.member(named: "mermaid")?.string ?? ""
                let expected = self.arrows(of: events, in: root)
                #expect(self.arrows(of: mermaid) == expected)
                #expect(answer.json?.member(named: "events")?.elements?.count == expected.count)
                arrows += expected.count
            }
            #expect(arrows > 1000)
        }
    }

    /// Returns a flow of one message.
    private static func flow(
        url: String,
        module: String? = nil,
        cause: CorrelationID? = nil,
        text: String = ""
    ) -> RecordedFlow {
        var flow = RecordedFlow(number: 1, route: "app://a")
        flow.messages = [
            RecordedMessage(
                id: CorrelationID(rawValue: 2),
                time: 0,
                url: url,
                pattern: "app://a",
                module: module,
                origin: "local",
                node: nil,
                cause: cause,
                answers: nil,
                kind: .request,
                value: nil,
                parameters: []
            )
        ]
        flow.events = [FlowEvent(kind: .message, message: 0, time: 0, text: text, duration: nil)]
        return flow
    }

    @Test
    func `a message whose cause was not recorded does not come from the caller`() {
        let flow = Self.flow(url: "app://a", cause: CorrelationID(rawValue: 1))
        #expect(FlowDiagram(flow)?.participants == ["sender (not recorded)", "app://a"])
    }

    @Test
    func `a diagram escapes characters that have a meaning in Mermaid`() {
        let flow = Self.flow(url: "app://a#b;c", module: "OrdersModule", text: "<a>\n\"")
        #expect(
            FlowDiagram(flow)?.mermaid
                == """
                sequenceDiagram
                    participant P0 as caller
                    participant P1 as Orders
                    P0->>P1: app://a#35;b#59;c #60;a#62; #34;

                """
        )
    }
}
#endif

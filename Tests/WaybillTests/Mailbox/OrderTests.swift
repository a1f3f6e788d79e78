import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// The messages of one sender to one module are handled in the order sent.
@Suite(.timeLimit(.minutes(1)))
struct OrderTests {
    let bus = MessageBus(configuration: .roomy)

    enum Kind: CaseIterable, Sendable { case now, later, captures, near, far, farLater }

    private func register(_ kind: Kind, _ heard: Journal<Int>) throws {
        let near = Probe(eventLoop: self.bus.eventLoop)
        let far = Probe(eventLoop: EventLoop())
        // The sender uses two handlers, because the order is kept for the whole module, and not only for each
        // URL.
        for name in ["even", "odd"] {
            let pattern = "app://\(name)/:n"
            switch kind {
            case .now: try self.bus.register(pattern) { heard.add(try $0.parameters.require("n")) }
            case .later:
                try self.bus.register(pattern) { message in
                    heard.add(try message.parameters.require("n"))
                    await Task.yield()
                }
            case .captures:
                try self.bus.register(pattern) { [heard] message in
                    heard.add(try message.parameters.require("n"))
                    await Task.yield()
                }
            case .near: try self.bus.register(pattern, on: near) { heard.add(try $1.parameters.require("n")) }
            case .far: try self.bus.register(pattern, on: far) { heard.add(try $1.parameters.require("n")) }
            case .farLater:
                try self.bus.register(pattern, on: far) { _, message in
                    heard.add(try message.parameters.require("n"))
                    await Task.yield()
                }
            }
        }
    }

    private static func url(_ number: Int) -> String {
        number.isMultiple(of: 2) ? "app://even/\(number)" : "app://odd/\(number)"
    }

    @Test(arguments: Kind.allCases, RouteTests.Place.allCases)
    func `sent and routed messages keep their order together`(
        kind: Kind,
        place: RouteTests.Place
    ) async throws {
        let heard = Journal<Int>()
        try self.register(kind, heard)
        let bus = self.bus
        let count = Scale.of(1000)
        try await RouteTests.run(place, bus) {
            for number in 0..<count {
                switch number % 7 {
                case 3: try await bus.route(Self.url(number))
                case 5: try await bus.route(Self.url(number), deadline: .now + .seconds(60))
                default: bus.send(Self.url(number))
                }
            }
        }
        #expect(await bus.settles())
        let isInOrder = heard.entries == Array(0..<count)
        #expect(isInOrder)
    }

    @Test(arguments: Kind.allCases)
    func `each of several concurrent senders keeps its order`(kind: Kind) async throws {
        let heard = Journal<Int>()
        try self.register(kind, heard)
        let bus = self.bus
        let count = Scale.of(2500)
        let places: [RouteTests.Place] = [.outside, .home, .elsewhere, .outside]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (sender, place) in places.enumerated() {
                group.addTask {
                    try await RouteTests.run(place, bus) {
                        for number in 0..<count {
                            // Every second number of a sender is even, so the sender uses both handlers.
                            let url = Self.url(number * 4 + (number.isMultiple(of: 2) ? sender : 3 - sender))
                            if number.isMultiple(of: 50) { try await bus.route(url) } else { bus.send(url) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await bus.settles())
        #expect(bus.statistics.replied == count * 4)
        for sender in 0..<4 {
            let numbers = heard.entries.filter {
                ($0 / 4).isMultiple(of: 2) ? $0 % 4 == sender : 3 - $0 % 4 == sender
            }
            #expect(numbers.count == count && numbers == numbers.sorted())
        }
    }

    @Test func `waiting messages are not overtaken when a handler calls its own module`()
        async throws
    {
        let heard = Journal<Int>()
        let held = Gate()
        let bus = self.bus
        try bus.register("app://a/:n") { [weak bus] message in
            let number: Int = try message.parameters.require("n")
            heard.add(number)
            if number < 300 {
                if number.isMultiple(of: 10) { bus?.send("app://a/\(number + 300)") }
                try await bus?.route("app://b", as: Void.self)
            }
        }
        try bus.register("app://b") { _ in }
        try bus.register("app://hold") { _ in held.block() }
        bus.send("app://hold")
        for number in 0..<300 { bus.send("app://a/\(number)") }
        async let last: Reply = bus.route("app://b")
        #expect(await eventually { bus.statistics.sent == 302 })
        held.open()
        _ = try await last
        #expect(await bus.settles())
        let entries = heard.entries
        #expect(entries.filter { $0 < 300 } == Array(0..<300))
        let later = entries.filter { $0 >= 300 }
        #expect(later.count == 30 && later == later.sorted())
    }
}

extension MessageBus.Configuration {
    /// A configuration whose mailboxes do not reject messages.
    static var roomy: Self {
        var configuration = Self.quiet
        configuration.mailboxLimit = .max
        return configuration
    }
}

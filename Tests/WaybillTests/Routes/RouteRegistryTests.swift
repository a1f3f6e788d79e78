import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct RouteRegistryTests {
    let bus = MessageBus(configuration: .quiet)

    private func time(_ body: () throws -> Void) rethrows -> Duration {
        let before = threadTime()
        try body()
        return threadTime() - before
    }

    @Test func `the cost of a registration does not grow with the number of routes`() throws {
        let count = Scale.of(5000)
        let first = try self.time {
            for number in 0..<count { try self.bus.register("app://a/\(number)/:id") { _ in number } }
        }
        for number in count..<count * 4 { try self.bus.register("app://a/\(number)/:id") { _ in number } }
        let last = try self.time {
            for number in count * 4..<count * 5 {
                try self.bus.register("app://a/\(number)/:id") { _ in number }
            }
        }
        // Quadratic cost would take nine times as long.
        #expect(last < first * 5)
        #expect(self.bus.routes.count == count * 5)
    }

    @Test(arguments: [RouteTests.Place.outside, .home])
    func `the cost of registering and routing in turn does not grow with the number of routes`(
        place: RouteTests.Place
    ) async throws {
        let count = Scale.of(2000)
        let bus = self.bus
        let (first, last) = try await RouteTests.run(place, bus) {
            var times: [Duration] = []
            for part in 0..<8 {
                let before = threadTime()
                for number in part * count..<(part + 1) * count {
                    try bus.register("app://a/\(number)") { _ in number }
                    if place == .home { _ = try await bus.route("app://a/\(number)", as: Int.self) }
                    #expect(bus.canRoute("app://a/\(number / 2)"))
                }
                times.append(threadTime() - before)
            }
            return (times[0], times[7])
        }
        // Copying the table for each registration would take fifteen times as long.
        #expect(last < first * 7)
    }

    @Test func `a registered URL can be routed at once, and an unregistered one cannot`() async throws {
        let bus = self.bus
        try await Probe(eventLoop: bus.eventLoop).run {
            for number in 0..<500 {
                let registration = try bus.register("app://a/\(number)") { _ in number }
                #expect(try await bus.route("app://a/\(number)", as: Int.self) == number)
                if number.isMultiple(of: 2) {
                    registration.cancel()
                    #expect(await failure { try await bus.route("app://a/\(number)") }?.code == .noRoute)
                }
            }
        }
    }

    @Test func `readers on other threads see a complete route or no route`() async throws {
        let bus = self.bus
        let far = Probe(eventLoop: EventLoop())
        let stopped = Journal<Bool>()
        try bus.register("app://always/:n") { try $0.parameters.require("n", as: Int.self) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for place in RouteTests.Place.allCases {
                group.addTask {
                    try await RouteTests.run(place, bus) {
                        var number = 0
                        while stopped.count == 0 {
                            number += 1
                            let seen: Int = try await bus.route("app://always/\(number)")
                            #expect(seen == number)
                            let error = await failure {
                                let value = try await bus.route("app://brief/\(number % 10)", as: Int.self)
                                #expect(value == number % 10)
                            }
                            #expect(error == nil || error?.code == .noRoute || error?.code == .noHandler)
                        }
                    }
                }
            }
            for _ in 0..<Scale.of(200) {
                let near = try (0..<5).map { number in
                    try bus.register("app://brief/\(number)") { _ in number }
                }
                let distant = try (5..<10).map { number in
                    try bus.register("app://brief/\(number)", on: far) { _, _ -> Int in
                        await Task.yield()
                        return number
                    }
                }
                await Task.yield()
                for registration in near + distant { registration.cancel() }
            }
            stopped.add(true)
            try await group.waitForAll()
        }
        #expect(bus.statistics.inFlight == 0)
    }

    @Test func `readers on other threads see a scheme unregistered completely or not at all`() async throws {
        let bus = self.bus
        let stopped = Journal<Bool>()
        async let seen = onThread {
            var wrong = 0
            while stopped.count == 0 {
                let count = bus.routes.count
                if count != 0, count != 50, count > 50 { wrong += 1 }
                if !bus.canRoute("tel://0"), bus.canRoute("tel://49") { wrong += 1 }
            }
            return wrong
        }
        for _ in 0..<Scale.of(100) {
            for number in 0..<50 { try bus.register("tel://\(number)") { _ in } }
            #expect(bus.unregister(scheme: "tel") == 50)
        }
        stopped.add(true)
        _ = await seen
        #expect(bus.routes.isEmpty)
    }
}

import Testing
import Waybill
import WaybillEventLoop

/// Everything at once, at random: at the end the books balance and nothing is left.
@Suite(.timeLimit(.minutes(2)))
struct SoakTests {
    /// Numbers that look random and are the same in each run.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return self.state ^ (self.state >> 29)
        }
    }

    private struct Refusal: Error {}

    private static let urls = [
        "app://now", "app://throws", "app://later", "app://hangs", "app://far", "app://far/later",
        "app://calls",
        "app://comes/and/goes", "app://nobody", "", "app://now#later", "app://far#app://now#far",
    ]

    private static func register(on bus: MessageBus, _ far: [Probe]) throws {
        try bus.register("app://now") { _ in 1 }
        try bus.register("app://throws") { _ -> Int in throw Refusal() }
        try bus.register("app://later") { message -> Int in
            await Task.yield()
            await message.reply(with: 1)
            return 1
        }
        try bus.register("app://hangs") { _ in try await Task.sleep(for: .seconds(3600)) }
        try bus.register("app://far", on: far[0]) { _, _ in 1 }
        try bus.register("app://far/later", on: far[1]) { _, _ -> Int in
            await Task.yield()
            return 1
        }
        try bus.register("app://calls", on: far[0]) { [weak bus] _, _ in
            bus?.send("app://far")
            return try await bus?.route("app://far/later", as: Int.self)
        }
    }

    private static func act(_ bus: MessageBus, _ dice: inout Dice) async {
        let url = Self.urls.randomElement(using: &dice) ?? ""
        let deadline = ContinuousClock.now + .microseconds(Int.random(in: 0..<2000, using: &dice))
        switch Int.random(in: 0..<10, using: &dice) {
        case 0...3: bus.send(url)
        case 4 where url != "app://hangs": _ = await failure { try await bus.route(url) }
        case 5:
            let caller = Task { await failure { try await bus.route(url) } }
            if Bool.random(using: &dice) { await Task.yield() }
            caller.cancel()
            _ = await caller.value
        case 6:
            _ = await failure {
                for try await _ in bus.replies(to: url, deadline: deadline) where Bool.random() { break }
            }
        case 7: _ = await failure { try await bus.route(url, deadline: deadline) { (_: Int) in } as Void }
        default: _ = await failure { try await bus.route(url, deadline: deadline) }
        }
    }

    @Test func `tens of thousands of messages each end once`() async throws {
        let loops = [EventLoop(name: "home"), EventLoop(name: "lane"), EventLoop(name: "far")]
        let bus = MessageBus(eventLoops: Array(loops.prefix(2)), configuration: .quiet)
        try Self.register(on: bus, loops.suffix(2).map(Probe.init))
        let count = Scale.of(7500)
        let stopped = Journal<Bool>()
        async let coming: Void = {
            while stopped.count == 0 {
                let registration = try? bus.register("app://comes/and/goes") { _ in
                    try await Task.sleep(for: .seconds(3600))
                }
                await Task.yield()
                registration?.cancel()
                #expect(bus.statistics.inFlight >= 0)
            }
        }()
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<8 {
                group.addTask {
                    let act: @Sendable () async -> Void = {
                        var dice = Dice(state: UInt64(sender) + 1)
                        for _ in 0..<count { await Self.act(bus, &dice) }
                    }
                    if sender < 3 {
                        await Probe(eventLoop: loops[sender]).run { await act() }
                    } else {
                        await act()
                    }
                }
            }
        }
        stopped.add(true)
        await coming
        let summary = await bus.shutDown(graceful: .now + .milliseconds(200))
        #expect(await bus.settles())
        let books = bus.statistics
        #expect(books.sent >= 8 * count && summary.abandoned <= books.deadLettered)
        #expect(min(books.replied, books.failed, books.expired, books.cancelled, books.deadLettered) > 0)
    }
}

import Synchronization
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// An actor whose `eventLoop` changes would run on two threads at once, so the bus traps.
@Suite(.timeLimit(.minutes(2)))
struct ChangingLoopTests {
    /// The loop of the actor at each call.
    final class Loops: Sendable {
        private let loops = [EventLoop(), EventLoop()]
        private let reads = Atomic<Int>(0)
        private let alternates: Bool
        private let moved = Atomic<Bool>(false)

        init(alternates: Bool) { self.alternates = alternates }

        func move() { self.moved.store(true, ordering: .sequentiallyConsistent) }

        var current: EventLoop {
            if self.moved.load(ordering: .sequentiallyConsistent) { return self.loops[1] }
            let read = self.reads.add(1, ordering: .relaxed).oldValue
            return self.loops[self.alternates ? read % 2 : 0]
        }
    }

    actor Wanderer: LoopBound {
        nonisolated let loops: Loops
        nonisolated var eventLoop: EventLoop { self.loops.current }
        var count = 0

        init(alternates: Bool) { self.loops = Loops(alternates: alternates) }

        func add() -> Int {
            self.count += 1
            return self.count
        }
    }

    /// An actor that does not run on the loop that it returns.
    actor Elsewhere: LoopBound {
        nonisolated let eventLoop = EventLoop()
        private nonisolated let other = EventLoop()
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe self.other.asUnownedSerialExecutor()
        }
    }

    actor Rover: Module {
        static let url = "app://rover"
        static let routes = [ModuleRoute<Rover>("app://rover/a", action: "a") { _, _ in 1 }]
        nonisolated let context: ModuleContext
        private nonisolated let loops = Loops(alternates: true)
        nonisolated var eventLoop: EventLoop { self.loops.current }

        init(context: ModuleContext = .current) { self.context = context }
    }

    @Test func `registering an actor whose loop differs each time traps`() async {
        await #expect(processExitsWith: .failure) {
            try MessageBus(configuration: .quiet)
                .register("app://a", on: Wanderer(alternates: true)) { actor, _ in actor.add() }
        }
        await #expect(processExitsWith: .failure) {
            try MessageBus(configuration: .quiet)
                .register("app://a", on: Wanderer(alternates: true)) { actor, _ async in actor.add() }
        }
        await #expect(processExitsWith: .failure) {
            try MessageBus(configuration: .quiet)
                .subscribe("app://a", on: Wanderer(alternates: true)) { actor, _ in _ = actor.add() }
        }
        await #expect(processExitsWith: .failure) {
            try MessageBus(configuration: .quiet)
                .configureMailbox(of: Wanderer(alternates: true), MailboxConfiguration(limit: 1))
        }
        await #expect(processExitsWith: .failure) {
            try MessageBus(configuration: .quiet)
                .register("app://a", on: Elsewhere()) { _, _ in 1 }
        }
        await #expect(processExitsWith: .failure) {
            try await MessageBus(configuration: .quiet).install { Rover() }
        }
    }

    @Test func `registering an actor again after its loop has changed traps`() async {
        await #expect(processExitsWith: .failure) {
            let bus = MessageBus(configuration: .quiet)
            let actor = Wanderer(alternates: false)
            try bus.register("app://a", on: actor) { actor, _ in actor.add() }
            actor.loops.move()
            try bus.register("app://b", on: actor) { actor, _ in actor.add() }
        }
    }

    #if DEBUG
    @Test func `an actor whose loop has changed traps at its next message in a debug build`() async {
        await #expect(processExitsWith: .failure) {
            let bus = MessageBus(configuration: .quiet)
            let actor = Wanderer(alternates: false)
            try bus.register("app://a", on: actor) { actor, _ in actor.add() }
            actor.loops.move()
            _ = try await bus.route("app://a", as: Int.self)
        }
        await #expect(processExitsWith: .failure) {
            let bus = MessageBus(configuration: .quiet)
            let actor = Wanderer(alternates: false)
            try bus.register("app://a", on: actor) { actor, _ async in
                await Task.yield()
                return actor.add()
            }
            actor.loops.move()
            _ = try await bus.route("app://a", as: Int.self)
        }
    }
    #endif

    @Test func `an actor whose loop does not change can be registered repeatedly`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let actor = Wanderer(alternates: false)
        try bus.configureMailbox(of: actor, MailboxConfiguration(limit: 8))
        try bus.register("app://a", on: actor) { actor, _ in actor.add() }
        try bus.register("app://b", on: actor) { actor, _ async in actor.add() }
        #expect(try await bus.route("app://a", as: Int.self) == 1)
        #expect(try await bus.route("app://b", as: Int.self) == 2)
    }
}

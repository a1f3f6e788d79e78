#if Macros
import Waybill
import WaybillSimulation
import WaybillTestSupport

// Defects of several modules that wait for one another, or that rely on an order that nothing guarantees.

@Module("app://journal")
actor Journal {
    private(set) var lines: [String] = []

    @Route func add(line: String) async { self.lines.append(line) }
}

@Module("app://relay")
actor Relay {
    @Route func pass(line: String) async throws {
        await Task.yield()
        try await self.bus.route("app://journal/add?line=\(line)")
    }
}

@Module("app://process")
actor Process {
    @Route func run() async throws {
        self.bus.send("app://relay/pass?line=begin")
        self.bus.send("app://journal/add?line=end")
        try await Task.sleep(for: .milliseconds(1))
    }
}

extension PlantedBug {
    static let orderOfTwoModules = PlantedBug("two messages to two modules are expected in order") { world in
        let node = try await world.node("process") { bus in
            try await bus.install { Journal() }
            try await bus.install { Relay() }
            return try await bus.install { Process() }
        }
        world.always("the journal begins with the beginning") {
            await node.module(Journal.self).lines.first != "end"
        }
        try await world.clients(1) { client, _ in try await client.route("app://process/run") }
    } ordinaryTest: { bus in
        // The test looks only at the content, as tests of unordered effects do.
        let journal = try await bus.install { Journal() }.module
        try await bus.install { Relay() }
        try await bus.install { Process() }
        try await bus.route("app://process/run")
        return await eventually { await Set(journal.lines) == ["begin", "end"] }
    }
}

@Module("app://news")
actor News {
    private(set) var published = 0

    @Route func publish() async throws {
        self.published += 1
        try await self.bus.publish("app://news/item")
    }
}

@Module("app://reader")
actor Reader {
    private(set) var read = 0

    @Route func start() async throws {
        // The subscription begins some time after its caller has continued.
        let bus = self.bus
        Task {
            await Task.yield()
            try bus.subscribe("app://news/item") { _ in bus.send("app://reader/note") }
        }
    }

    @Route func note() { self.read += 1 }
}

extension PlantedBug {
    /// Issue 6415 of ReactiveX/RxJava: a subscriber on another thread misses a value that comes soon.
    static let missedFirstMessage = PlantedBug("a subscription misses the first message") { world in
        let node = try await world.node("news") { bus in
            try await bus.install { News() }
            return try await bus.install { Reader() }
        }
        world.eventually("everything that is published is read") {
            let published = await node.module(News.self).published
            return await node.module(Reader.self).read == published
        }
        try await world.clients(1) { client, _ in
            try await client.route("app://reader/start")
            try await client.route("app://news/publish")
        }
    } ordinaryTest: { bus in
        let news = try await bus.install { News() }.module
        let reader = try await bus.install { Reader() }.module
        try await bus.route("app://reader/start")
        // The test waits, because its author has seen it fail without the wait.
        try await Task.sleep(for: .seconds(1))
        try await bus.route("app://news/publish")
        let published = await news.published
        return await eventually { await reader.read == published }
    }
}

/// A module of a circle. It handles one message at a time, and each module calls the next one.
@Module("app://first")
actor First {
    @Route func ask(depth: Int) async throws -> Int {
        depth == 0 ? 0 : try await self.bus.route("app://second/ask?depth=\(depth)")
    }
}

@Module("app://second")
actor Second {
    @Route func ask(depth: Int) async throws -> Int {
        try await self.bus.route("app://third/ask?depth=\(depth)")
    }
}

@Module("app://third")
actor Third {
    @Route func ask(depth: Int) async throws -> Int {
        // Another task makes the call, so the bus cannot detect that the first module waits for itself.
        let bus = self.bus
        return try await Task.detached {
            try await bus.route("app://first/ask?depth=\(depth - 1)", as: Int.self)
        }.value
    }
}

extension PlantedBug {
    /// Issue 5456 of dotnet/orleans: the call chain A, B, C, A waits for ever.
    static let waitsForItself = PlantedBug("a serial module waits for itself through two others") { world in
        _ = try await world.node("circle") { bus in
            try await bus.install(mailbox: .init(isSerial: true)) { First() }
            try await bus.install { Second() }
            return try await bus.install { Third() }
        }
        try await world.clients(2) { client, random in
            try await client.route("app://first/ask?depth=\(random.int(in: 0...1))")
        }
    } ordinaryTest: { bus in
        try await bus.install(mailbox: .init(isSerial: true)) { First() }
        try await bus.install { Second() }
        try await bus.install { Third() }
        return try await bus.route("app://first/ask?depth=0", as: Int.self) == 0
    }
}

@Module("app://door")
actor Door {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    @Route func pass() async throws {
        if self.isOpen { return }
        await Task.yield()
        await withCheckedContinuation { self.waiters.append($0) }
    }

    @Route func open() {
        self.isOpen = true
        for waiter in self.waiters { waiter.resume() }
        self.waiters = []
    }
}

extension PlantedBug {
    /// Pull request 342 of lalinsky/zio: a signal between the check and the wait is lost.
    static let lostWakeUp = PlantedBug("a wake-up comes between the check and the wait") { world in
        _ = try await world.node("door") { bus in try await bus.install { Door() } }
        try await world.clients(2) { client, random in
            let isFirst = random.bool()
            try await client.route(isFirst ? "app://door/open" : "app://door/pass")
            try await client.route("app://door/open")
        }
    } ordinaryTest: { bus in
        try await bus.install { Door() }
        try await bus.route("app://door/open")
        try await bus.route("app://door/pass")
        return true
    }
}

@Module("app://locks")
actor Locks {
    private var isHeld: [String: Bool] = [:]
    private var waiters: [String: [CheckedContinuation<Void, Never>]] = [:]

    @Route func take(name: String) async {
        while self.isHeld[name] == true {
            await withCheckedContinuation { self.waiters[name, default: []].append($0) }
        }
        self.isHeld[name] = true
    }

    @Route func release(name: String) {
        self.isHeld[name] = false
        for waiter in self.waiters.removeValue(forKey: name) ?? [] { waiter.resume() }
    }
}

extension PlantedBug {
    static let locksInTwoOrders = PlantedBug("two callers take two locks in two orders") { world in
        _ = try await world.node("locks") { bus in try await bus.install { Locks() } }
        try await world.clients(2) { client, random in
            try await Task.sleep(for: random.duration(in: .zero ... .milliseconds(20)))
            let names = random.bool() ? ["a", "b"] : ["b", "a"]
            for name in names { try await client.route("app://locks/take?name=\(name)") }
            for name in names { try await client.route("app://locks/release?name=\(name)") }
        }
    } ordinaryTest: { bus in
        try await bus.install { Locks() }
        for names in [["a", "b"], ["b", "a"]] {
            for name in names { try await bus.route("app://locks/take?name=\(name)") }
            for name in names { try await bus.route("app://locks/release?name=\(name)") }
        }
        return true
    }
}
#endif

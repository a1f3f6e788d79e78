internal import Waybill
internal import WaybillEventLoop
internal import WaybillTestSupport

/// A bus with handlers of every kind: they answer, throw, hang, reply late, call other handlers, or have full
/// mailboxes.
struct SoakTown: Sendable {
    let bus: MessageBus
    let books = SoakBooks()
    /// The gate for which some handlers wait.
    let gate = Gate()
    let loops = [EventLoop(name: "home"), EventLoop(name: "lane"), EventLoop(name: "far")]
    let modules: [Probe]

    struct Refusal: Error {}

    /// URLs whose handlers end in time, with a reply or an error.
    static let quick = [
        "app://now", "app://throws", "app://later", "app://far", "app://far/later", "app://calls",
        "app://nobody/home", "", "app://now#later", "app://far#app://now#far", "app://now#nobody/home",
        "app://early#far", "app://declines#far", "app://comes/and/goes",
        "app://full/fail", "app://full/suspend", "app://full/drop",
        "app://serial/fail", "app://serial/suspend", "app://serial/drop", "app://serial/drop/now",
    ]

    /// URLs whose handlers may never answer.
    static let slow = ["app://hangs", "app://deaf"]

    /// URLs whose handlers answer with a number, in place or not.
    static let numbers = ["app://now", "app://throws", "app://far", "app://later", "app://calls"]

    init() throws {
        let loops = self.loops
        self.modules = (0..<8).map { Probe(eventLoop: loops[$0 % 3]) }
        self.bus = MessageBus(eventLoops: Array(loops.prefix(2)), configuration: .quiet)
        try self.registerClosures()
        try self.registerModules()
        try self.subscribe()
    }

    private func registerClosures() throws {
        let (bus, books, gate) = (self.bus, self.books, self.gate)
        try bus.register("app://now") { _ in 1 }
        try bus.register("app://throws") { _ -> Int in throw Refusal() }
        try bus.register("app://later") { message -> Int in
            await books.run {
                await Task.yield()
                await message.reply(with: 1)
                return 1
            }
        }
        try bus.register("app://hangs") { _ in
            try await books.run { try await hang() }
        }
        try bus.register("app://deaf") { _ in await books.run { await gate.wait() } }
        try bus.register("app://early") { $0.sendReturn(1) }
        try bus.register("app://declines") { $0.declineReturn() }
    }

    private func registerModules() throws {
        let (bus, books, modules) = (self.bus, self.books, self.modules)
        try bus.register("app://far", on: modules[2]) { _, _ in 1 }
        try bus.register("app://far/later", on: modules[1]) { _, _ -> Int in
            await books.run { await Task.yield() }
            return 1
        }
        try bus.register("app://calls", on: modules[2]) { [weak bus] _, _ -> Int in
            guard let bus else { return 0 }
            books.note { $0.given += 1 }
            bus.send("app://far")
            await books.call { try await bus.route("app://far/later", as: Void.self) }
            return 1
        }
        let overflows: [(String, MailboxConfiguration.Overflow)] = [
            ("fail", .fail), ("suspend", .suspend), ("drop", .dropOldest),
        ]
        for (number, (name, overflow)) in overflows.enumerated() {
            let full = modules[3 + number]
            try bus.configureMailbox(of: full, .init(limit: 4, whenFull: overflow))
            try bus.register("app://full/\(name)", on: full) { _, _ in await Task.yield() }
            let serial = Probe(eventLoop: self.loops[(number + 1) % 3])
            try bus.configureMailbox(of: serial, .init(limit: 4, whenFull: overflow, isSerial: true))
            try bus.register("app://serial/\(name)", on: serial) { _, _ in
                await books.run { await Task.yield() }
            }
            try bus.register("app://serial/\(name)/now", on: serial) { _, _ in }
        }
    }

    private func subscribe() throws {
        let books = self.books
        try self.bus.subscribe("app://topic/*") { _ in books.note { $0.heard += 1 } }
        try self.bus.subscribe("app://topic/:name") { message in
            await Task.yield()
            books.note { $0.refused += 1 }
            throw Refusal()
        }
    }
}

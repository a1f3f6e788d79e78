import Testing
internal import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

@Suite
struct MailboxRegisterTests {
    @Test
    func `random handlers of a few modules share the mailboxes that a plain list gives them`() throws {
        let parts = try StateParts()
        for seed in 0..<UInt64(Scale.of(40)) {
            var generator = SeededGenerator(seed: seed)
            let modules = (0..<3).map { _ in Owner() }
            var register = MailboxRegister()
            var models = modules.map { _ in ModuleModel() }
            for step in 0..<200 {
                let number = generator.number(below: modules.count)
                let (module, owner) = (modules[number], ObjectIdentifier(modules[number]))
                let new = parts.mailbox(limit: 1 + generator.number(below: 2), of: module)
                let handler = models[number].handlers.randomElement(using: &generator)
                switch generator.number(below: 6) {
                case 0:
                    let isAdded = register.join(new, of: module)
                    try #require(isAdded == models[number].configure(new), "seed \(seed), step \(step)")
                case 1:
                    let mailbox = register.join(module) { new }
                    try #require(mailbox === models[number].join(new), "seed \(seed), step \(step)")
                case 2:
                    guard let handler, !handler.isRetired else { continue }
                    register.rejoin(handler.mailbox)
                    models[number].handlers.append(ModelHandler(mailbox: handler.mailbox))
                case 3:
                    register.releaseModule(owner)
                    models[number].isHeld = false
                case 4:
                    guard let handler, !handler.isRetired else { continue }
                    register.retire(from: handler.mailbox)
                    handler.isRetired = true
                default:
                    guard let handler, handler.isRetired else { continue }
                    register.leave(handler.mailbox)
                    models[number].handlers.removeAll { $0 === handler }
                }
            }
        }
    }

    @Test
    func `the register retains a module from its configuration to its first handler`() throws {
        let parts = try StateParts()
        var register = MailboxRegister()
        weak var released: Owner?
        do {
            let module = Owner()
            released = module
            let isAdded = register.join(parts.mailbox(of: module), of: module)
            #expect(isAdded)
        }
        #expect(released != nil)
        if let module = released {
            _ = register.join(module) { parts.mailbox(of: module) }
            register.releaseModule(ObjectIdentifier(module))
        }
        #expect(released == nil)
    }

    @Test
    func `a module whose registration failed can join again`() throws {
        let parts = try StateParts()
        var register = MailboxRegister()
        let module = Owner()
        register.rejoin(parts.mailbox(of: module))
        register.leave(parts.mailbox(of: module))
        let mailbox = parts.mailbox(of: module)
        let joined = register.join(module) { mailbox }
        #expect(joined === mailbox)
    }
}

private final class ModelHandler {
    let mailbox: Mailbox
    var isRetired = false

    init(mailbox: Mailbox) { self.mailbox = mailbox }
}

/// The handlers of one module, and the mailbox that its next handler gets.
private struct ModuleModel {
    var handlers: [ModelHandler] = []
    /// Whether the register holds the module, which has a configured mailbox.
    var isHeld = false
    private var latest: Mailbox?

    private var current: Mailbox? {
        self.isHeld || self.handlers.contains { $0.mailbox === self.latest } ? self.latest : nil
    }

    private var isRegistered: Bool { self.handlers.contains { !$0.isRetired } }

    mutating func configure(_ mailbox: Mailbox) -> Bool {
        if self.isRegistered { return false }
        self.latest = self.choice(mailbox)
        self.isHeld = true
        return true
    }

    mutating func join(_ mailbox: Mailbox) -> Mailbox? {
        if !self.isRegistered, !self.isHeld { self.latest = self.choice(mailbox) }
        self.handlers += self.latest.map { [ModelHandler(mailbox: $0)] } ?? []
        return self.latest
    }

    private func choice(_ new: Mailbox) -> Mailbox {
        self.current.flatMap { $0.limit == new.limit ? $0 : nil } ?? new
    }
}

/// A module without messages.
private actor Owner: LoopBound {
    nonisolated let eventLoop = EventLoop.onCallingThread()
}

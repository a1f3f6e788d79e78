import Testing
internal import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

@Suite
struct MailboxRegisterTests {
    @Test
    func `random handlers of a few modules share the mailboxes that a plain count gives them`() throws {
        let parts = try StateParts()
        for seed in 0..<UInt64(Scale.of(40)) {
            var generator = SeededGenerator(seed: seed)
            let modules = (0..<3).map { _ in Owner() }
            var register = MailboxRegister()
            // The mailbox of each module, the number of its handlers, and whether the register holds the
            // module.
            var model: [Int: (mailbox: Mailbox, handlers: Int, isHeld: Bool)] = [:]
            for step in 0..<100 {
                let number = generator.number(below: modules.count)
                let module = modules[number]
                let entry = model[number]
                switch generator.number(below: 5) {
                case 0:
                    let mailbox = parts.mailbox()
                    let isAdded = register.join(mailbox, of: module)
                    try #require(isAdded == (entry?.handlers ?? 0 == 0), "seed \(seed), step \(step)")
                    if isAdded { model[number] = (mailbox, 0, true) }
                case 1:
                    let new = parts.mailbox()
                    let mailbox = register.join(module) { new }
                    try #require(mailbox === (entry?.mailbox ?? new), "seed \(seed), step \(step)")
                    model[number] = (mailbox, (entry?.handlers ?? 0) + 1, entry?.isHeld ?? false)
                case 2:
                    // A further handler of a module that has one already joins its mailbox.
                    guard let entry, entry.handlers > 0 else { continue }
                    register.rejoin(ObjectIdentifier(module))
                    model[number]?.handlers += 1
                case 3:
                    guard let entry else { continue }
                    register.releaseModule(ObjectIdentifier(module))
                    model[number] = entry.handlers > 0 ? (entry.mailbox, entry.handlers, false) : nil
                default:
                    guard let entry, entry.handlers > 0 else { continue }
                    register.leave(ObjectIdentifier(module))
                    model[number]?.handlers -= 1
                    if entry.handlers == 1, !entry.isHeld { model[number] = nil }
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
            let isAdded = register.join(parts.mailbox(), of: module)
            #expect(isAdded)
        }
        #expect(released != nil)
        if let module = released {
            _ = register.join(module) { parts.mailbox() }
            register.releaseModule(ObjectIdentifier(module))
        }
        #expect(released == nil)
    }

    @Test
    func `a module whose registration failed can join again`() throws {
        let parts = try StateParts()
        var register = MailboxRegister()
        let module = Owner()
        register.rejoin(ObjectIdentifier(module))
        register.leave(ObjectIdentifier(module))
        let mailbox = parts.mailbox()
        let joined = register.join(module) { mailbox }
        #expect(joined === mailbox)
    }
}

/// A module without messages.
private actor Owner: LoopBound {
    nonisolated let eventLoop = EventLoop.onCallingThread()
}

internal import DequeModule
import Testing
internal import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

@Suite
struct MailboxQueueTests {
    @Test(arguments: [MailboxConfiguration.Overflow.fail, .suspend, .dropOldest], [false, true])
    func `random operations on a mailbox queue give the results of a plain list`(
        whenFull: MailboxConfiguration.Overflow,
        isSerial: Bool
    ) throws {
        for seed in 0..<UInt64(Scale.of(60)) {
            let limit = Int(seed % 4) + (isSerial ? 0 : 1)
            var run = try QueueRun(limit: limit, whenFull: whenFull, isSerial: isSerial, seed: seed)
            for step in 0..<200 {
                let (operation, actual, expected) = run.step()
                #expect(actual == expected, "seed \(seed), step \(step), \(operation)")
            }
            run.settleAll()
        }
    }

    @Test
    func `a serial queue starts no message before the message in progress has ended`() throws {
        let parts = try StateParts()
        var queue = MailboxQueue(limit: 1, whenFull: .fail, isSerial: true)
        defer { queue.settleAll() }
        let isStarted = queue.beginTurn(of: CorrelationID(rawValue: 1))
        let effects = [queue.send(2, parts), queue.send(3, parts)]
        let isNextStarted = queue.beginTurn(of: CorrelationID(rawValue: 4))
        #expect(isStarted && !isNextStarted)
        #expect(effects == ["none", "rejected"])
        let early = queue.nextID()
        let end = queue.end().described()
        let late = queue.nextID()
        #expect(early == nil && end == "drain" && late == 2)
        #expect(queue.occupancy == 1)
    }

    @Test
    func `a sender does not overtake senders that wait for a slot`() throws {
        let parts = try StateParts()
        var queue = MailboxQueue(limit: 1, whenFull: .suspend, isSerial: false)
        defer { queue.settleAll() }
        let (first, second) = (LoopContinuation<Bool>(on: nil), LoopContinuation<Bool>(on: nil))
        _ = queue.send(1, parts)
        let (gone, other) = (parts.handler(), parts.handler())
        let waits = [queue.addSender(first, to: gone), queue.addSender(second, to: other)]
        _ = queue.nextID()
        let isTaken = queue.takeSlot()
        #expect(waits == [true, true] && !isTaken)
        let granted = queue.grantSlot()
        let none = queue.grantSlot()
        #expect(granted === first && none == nil)
        gone.retire { .unregistered(url: $0) }
        let unreachable = queue.removeUnreachableSenders()
        #expect(unreachable.isEmpty && queue.removeSender(second))
    }
}

/// A queue, and a plain list that performs the same operations.
private struct QueueRun: ~Copyable {
    enum Operation: CaseIterable {
        case send, sendInSlot, wait, waitWithSlot, start, next, end
        case withdraw, unregister
        case takeSlot, waitForSlot, grantSlot, withdrawSender
    }

    private let parts: StateParts
    private var generator: SeededGenerator
    private var queue: MailboxQueue
    private var model: QueueModel
    private var handlers: [Handler]
    private var tasks: [(id: Int, task: QueuedTask)] = []
    private var senders: [LoopContinuation<Bool>] = []
    private var lastID = 0

    init(limit: Int, whenFull: MailboxConfiguration.Overflow, isSerial: Bool, seed: UInt64) throws {
        let parts = try StateParts()
        self.generator = SeededGenerator(seed: seed)
        self.queue = MailboxQueue(limit: limit, whenFull: whenFull, isSerial: isSerial)
        self.model = QueueModel(limit: limit, whenFull: whenFull, isSerial: isSerial)
        self.handlers = [parts.handler(), parts.handler(), parts.handler()]
        self.parts = parts
    }

    /// Performs an operation on the queue and on the list.
    ///
    /// `actual` and `expected` are the results and the states afterwards.
    mutating func step() -> (operation: Operation, actual: String, expected: String) {
        let operation = Operation.allCases[self.generator.number(below: Operation.allCases.count)]
        let (actual, expected) = self.perform(operation)
        let progress = self.queue.inProgress.map { Int($0.rawValue) }
        let state = "\(self.queue.occupancy) \(self.queue.isFull) \(progress.description)"
        return (
            operation, "\(actual); \(state)",
            "\(expected); \(self.model.occupancy) \(self.model.isFull) \(self.model.inProgress.description)"
        )
    }

    /// Ends the remaining messages.
    mutating func settleAll() { self.queue.settleAll() }

    private mutating func perform(_ operation: Operation) -> (actual: String, expected: String) {
        switch operation {
        case .send:
            let (id, handler) = self.next()
            let actual = self.queue.send(self.parts.envelope(id, self.handlers[handler]))
            return (actual, self.model.add(.init(id: id, handler: handler, takesSlot: true)))
        case .sendInSlot:
            guard self.model.granted > 0 else { return ("", "") }
            let (id, handler) = self.next()
            let actual = self.queue.send(self.parts.envelope(id, self.handlers[handler]), hasSlot: true)
            return (actual, self.model.addInSlot(.init(id: id, handler: handler, takesSlot: true)))
        case .wait: return self.wait(takesSlot: false)
        case .waitWithSlot: return self.wait(takesSlot: true)
        case .start:
            let (id, _) = self.next()
            let isStarted = self.queue.beginTurn(of: CorrelationID(rawValue: UInt64(id)))
            return ("\(isStarted)", "\(self.model.start(id))")
        case .next:
            // The loop asks for messages after it was told to drain, until none can start.
            guard self.model.isDraining else { return ("", "") }
            return (self.queue.nextID().description, self.model.next().description)
        case .end:
            guard self.model.inProgress != nil else { return ("", "") }
            return (self.queue.end().described(), self.model.end())
        case .withdraw:
            guard let (id, task) = self.tasks.randomElement(using: &self.generator) else { return ("", "") }
            let withdrawn: Int? = self.queue.remove(task) ? id : nil
            return (withdrawn.description, self.model.withdraw(id).description)
        case .unregister: return self.unregister()
        case .takeSlot: return ("\(self.queue.takeSlot())", "\(self.model.takeSlot())")
        case .waitForSlot:
            let sender = LoopContinuation<Bool>(on: nil)
            self.senders.append(sender)
            let handler = self.generator.number(below: self.handlers.count)
            return (
                "\(self.queue.addSender(sender, to: self.handlers[handler]))",
                "\(self.model.waitForSlot(self.senders.count - 1, of: handler))"
            )
        case .grantSlot:
            let granted = self.queue.grantSlot().flatMap { sender in self.senders.firstIndex { $0 === sender }
            }
            return (granted.description, self.model.grantSlot().description)
        case .withdrawSender:
            guard let sender = self.senders.indices.randomElement(using: &self.generator) else {
                return ("", "")
            }
            return (
                "\(self.queue.removeSender(self.senders[sender]))", "\(self.model.withdrawSender(sender))"
            )
        }
    }

    private mutating func wait(takesSlot: Bool) -> (actual: String, expected: String) {
        let (id, handler) = self.next()
        let task = self.parts.task(id, self.handlers[handler], takesSlot: takesSlot)
        self.tasks.append((id, task))
        let entry = QueueModel.Entry(id: id, handler: handler, takesSlot: takesSlot)
        return (self.queue.append(task).described(), self.model.add(entry))
    }

    /// Unregisters a handler, and puts another one in its place.
    private mutating func unregister() -> (actual: String, expected: String) {
        let index = self.generator.number(below: self.handlers.count)
        self.handlers[index].retire { .unregistered(url: $0) }
        self.handlers[index] = self.parts.handler()
        var removed = self.queue.removeUnreachable()
        var ids: [Int] = []
        while let entry = removed.popFirst() { ids.append(entry.settle()) }
        let senders = self.queue.removeUnreachableSenders().map { sender in
            self.senders.firstIndex { $0 === sender }
        }
        return (
            "\(ids) \(senders)",
            "\(self.model.remove(handler: index)) \(self.model.removeSenders(of: index).map(Optional.some))"
        )
    }

    /// Returns the ID of a new message, and its handler.
    private mutating func next() -> (id: Int, handler: Int) {
        self.lastID += 1
        return (self.lastID, self.generator.number(below: self.handlers.count))
    }
}

/// A model of a mailbox's queue, which searches a list for each operation.
private struct QueueModel {
    struct Entry {
        let id: Int
        let handler: Int
        let takesSlot: Bool
    }

    let limit: Int
    let whenFull: MailboxConfiguration.Overflow
    let isSerial: Bool

    private var entries: [Entry] = []
    private(set) var inProgress: Int?
    private(set) var isDraining = false
    /// The slots of senders that have not sent yet.
    private(set) var granted = 0
    private var senders: [(number: Int, handler: Int)] = []

    init(limit: Int, whenFull: MailboxConfiguration.Overflow, isSerial: Bool) {
        self.limit = limit
        self.whenFull = whenFull
        self.isSerial = isSerial
    }

    var occupancy: Int { self.entries.count + (self.inProgress == nil ? 0 : 1) }

    var isFull: Bool {
        let slots = self.entries.count { $0.takesSlot } + self.granted
        guard self.isSerial else { return slots >= self.limit }
        return slots + (self.inProgress == nil ? 0 : 1) >= self.limit + 1
    }

    mutating func add(_ entry: Entry) -> String {
        var dropped: Int?
        if entry.takesSlot, self.isFull {
            guard self.whenFull == .dropOldest,
                let index = self.entries.firstIndex(where: \.takesSlot)
            else { return "rejected" }
            dropped = self.entries.remove(at: index).id
        }
        self.entries.append(entry)
        let isDue = self.drain()
        return dropped.map { "dropped \($0)" + (isDue ? ", drain" : "") } ?? (isDue ? "drain" : "none")
    }

    mutating func addInSlot(_ entry: Entry) -> String {
        self.granted -= 1
        self.entries.append(entry)
        return self.drain() ? "drain" : "none"
    }

    mutating func start(_ id: Int) -> Bool {
        guard self.entries.isEmpty, self.inProgress == nil else { return false }
        self.inProgress = self.isSerial ? id : nil
        return true
    }

    mutating func next() -> Int? {
        guard self.inProgress == nil, !self.entries.isEmpty else {
            self.isDraining = false
            return nil
        }
        let id = self.entries.removeFirst().id
        self.inProgress = self.isSerial ? id : nil
        return id
    }

    mutating func end() -> String {
        self.inProgress = nil
        return self.drain() ? "drain" : "none"
    }

    mutating func withdraw(_ id: Int) -> Int? {
        guard self.entries.contains(where: { $0.id == id }) else { return nil }
        self.entries.removeAll { $0.id == id }
        return id
    }

    mutating func remove(handler: Int) -> [Int] {
        defer { self.entries.removeAll { $0.handler == handler } }
        return self.entries.filter { $0.handler == handler }.map(\.id)
    }

    mutating func takeSlot() -> Bool {
        guard self.senders.isEmpty, !self.isFull else { return false }
        self.granted += 1
        return true
    }

    mutating func waitForSlot(_ sender: Int, of handler: Int) -> Bool {
        if self.takeSlot() { return false }
        self.senders.append((sender, handler))
        return true
    }

    mutating func grantSlot() -> Int? {
        guard !self.isFull, !self.senders.isEmpty else { return nil }
        self.granted += 1
        return self.senders.removeFirst().number
    }

    mutating func withdrawSender(_ sender: Int) -> Bool {
        defer { self.senders.removeAll { $0.number == sender } }
        return self.senders.contains { $0.number == sender }
    }

    mutating func removeSenders(of handler: Int) -> [Int] {
        defer { self.senders.removeAll { $0.handler == handler } }
        return self.senders.filter { $0.handler == handler }.map(\.number)
    }

    /// Returns whether the loop must be told that a message can start.
    private mutating func drain() -> Bool {
        guard !self.isDraining, self.inProgress == nil, !self.entries.isEmpty else { return false }
        self.isDraining = true
        return true
    }
}

extension MailboxQueue {
    fileprivate mutating func send(_ envelope: consuming Envelope, hasSlot: Bool = false) -> String {
        var rest: Envelope? = consume envelope
        let effect = self.send(&rest, hasSlot: hasSlot).described()
        guard let rejected = rest.take() else {
            return effect == "rejected" ? "rejected, but the message is gone" : effect
        }
        rejected.reject { .mailboxFull(url: $0, limit: 1) }
        return effect == "rejected" ? effect : "\(effect), but the message is left"
    }

    fileprivate mutating func send(_ id: Int, _ parts: StateParts) -> String {
        self.send(parts.envelope(id, parts.handler()))
    }

    /// Ends the remaining messages.
    fileprivate mutating func settleAll() {
        repeat {
            if self.inProgress != nil { _ = self.end().described() }
        } while self.nextID() != nil
    }

    fileprivate mutating func nextID() -> Int? {
        guard let entry = self.startNext() else { return nil }
        return entry.settle()
    }
}

extension MailboxQueue.Entry {
    /// Ends the message unless its caller awaits it, and returns its number.
    fileprivate consuming func settle() -> Int {
        let id = Int(self.id.rawValue)
        if case .sent(let envelope) = consume self { envelope.reject { .unregistered(url: $0) } }
        return id
    }
}

extension MailboxQueue.Effect {
    /// Returns the effect as text.
    ///
    /// Dropped messages are released.
    fileprivate consuming func described() -> String {
        switch consume self {
        case .none: "none"
        case .drain: "drain"
        case .rejected: "rejected"
        case .dropped(var dropped, let isDue):
            "dropped \(dropped.popFirst()?.settle() ?? 0)" + (isDue ? ", drain" : "")
        }
    }
}

extension Int? {
    fileprivate var description: String { self.map { "\($0)" } ?? "nil" }
}

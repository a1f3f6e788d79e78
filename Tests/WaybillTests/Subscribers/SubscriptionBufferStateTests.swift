import Testing
internal import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

@Suite
struct SubscriptionBufferStateTests {
    @Test(arguments: [MailboxConfiguration.Overflow.fail, .suspend, .dropOldest])
    func `random operations on a subscription buffer give the results of plain lists`(
        whenFull: MailboxConfiguration.Overflow
    ) throws {
        for seed in 0..<UInt64(Scale.of(60)) {
            var run = try BufferRun(limit: Int(seed % 4), whenFull: whenFull, seed: seed)
            for step in 0..<200 {
                let (operation, actual, expected) = run.step()
                try #require(actual == expected, "seed \(seed), step \(step), \(operation)")
            }
        }
    }

    @Test
    func `a message that its publisher withdraws is not read`() throws {
        let parts = try StateParts()
        let buffer = parts.buffer()
        var state = SubscriptionBufferState(limit: 1, whenFull: .suspend)
        _ = state.offer(parts.message(1), to: buffer)
        guard case .queued(let second) = state.offer(parts.message(2), to: buffer),
            case .queued(let third) = state.offer(parts.message(3), to: buffer)
        else {
            Issue.record("a full buffer has taken a message")
            return
        }
        let withdrawn = [state.withdraw(second), state.withdraw(second)]
        #expect(withdrawn == [true, false])
        guard case .message(let first, let placed) = state.takeFirst() else {
            Issue.record("there is no message")
            return
        }
        #expect(first.id.rawValue == 1 && placed === third)
        let isWithdrawn = state.withdraw(third)
        #expect(!isWithdrawn)
    }

    @Test
    func `a subscription buffer ends once, with the first reason`() throws {
        let parts = try StateParts()
        var state = SubscriptionBufferState(limit: 1, whenFull: .fail)
        _ = state.offer(parts.message(1), to: parts.buffer())
        let first = state.end { .shutDown(url: $0) }
        let second = state.end { .unregistered(url: $0) }
        #expect(first.messages.map(\.id.rawValue) == [1] && second.messages.isEmpty)
        guard case .refused(let error) = state.offer(parts.message(2), to: parts.buffer()) else {
            Issue.record("a buffer that has ended has taken a message")
            return
        }
        #expect(error.code == .shutDown)
    }
}

extension SubscriptionBufferState {
    /// Offers a message without middlewares.
    fileprivate mutating func offer(_ message: Message, to buffer: SubscriptionBuffer) -> Offer {
        self.offer(UnreadMessage(message, nil), to: buffer)
    }
}

extension UnreadMessage {
    fileprivate var id: CorrelationID { self.message.id }
}

extension QueuedMessage {
    fileprivate var id: CorrelationID { self.unread.id }
}

/// The state of a buffer, and plain lists that perform the same operations.
private struct BufferRun {
    enum Operation: CaseIterable { case offer, publish, read, wait, withdraw, end }

    private let parts: StateParts
    private let buffer: SubscriptionBuffer
    private var generator: SeededGenerator
    private var state: SubscriptionBufferState
    private var model: BufferModel
    private var readers: [SubscriptionBuffer.Reader] = []
    private var queued: [(id: Int, message: QueuedMessage)] = []
    private var lastID = 0

    init(limit: Int, whenFull: MailboxConfiguration.Overflow, seed: UInt64) throws {
        self.parts = try StateParts()
        self.buffer = self.parts.buffer()
        self.generator = SeededGenerator(seed: seed)
        self.state = SubscriptionBufferState(limit: limit, whenFull: whenFull)
        self.model = BufferModel(limit: max(1, limit), whenFull: whenFull)
    }

    /// Performs an operation on the state and on the lists.
    ///
    /// `actual` and `expected` are the results.
    mutating func step() -> (operation: Operation, actual: String, expected: String) {
        let operation = Operation.allCases[self.generator.number(below: Operation.allCases.count)]
        let (actual, expected) = self.perform(operation)
        return (operation, actual, expected)
    }

    private mutating func perform(_ operation: Operation) -> (actual: String, expected: String) {
        switch operation {
        case .offer, .publish:
            self.lastID += 1
            let offer = self.state.offer(self.parts.message(self.lastID), to: self.buffer)
            if case .queued(let message) = offer { self.queued.append((self.lastID, message)) }
            return (self.text(of: offer), self.model.offer(self.lastID))
        case .read: return (self.text(of: self.state.takeFirst()), self.model.read())
        case .wait:
            let reader = SubscriptionBuffer.Reader(on: nil)
            self.readers.append(reader)
            return (self.text(of: self.state.read(reader)), self.model.wait(self.readers.count - 1))
        case .withdraw:
            guard let (id, message) = self.queued.randomElement(using: &self.generator) else {
                return ("", "")
            }
            return ("\(self.state.withdraw(message))", "\(self.model.withdraw(id))")
        case .end:
            guard self.generator.isOne(in: 20) else { return ("", "") }
            let left = self.state.end { .shutDown(url: $0) }
            let messages = left.messages.map { Int($0.id.rawValue) }
            let line = left.publishers.map { Int($0.id.rawValue) }
            return ("\(messages) \(line) \(left.readers.map { self.number(of: $0) })", self.model.end())
        }
    }

    private func text(of offer: SubscriptionBufferState.Offer) -> String {
        switch offer {
        case .kept: "kept"
        case .read(let reader): "read by \(self.number(of: reader))"
        case .replaced(let oldest, true): "replaced \(oldest.map { "\($0.id.rawValue)" }.joined())"
        case .replaced(_, false): "the message itself was dropped"
        case .queued(let queued): "queued \(queued.id.rawValue)"
        case .refused(let error): "refused \(error.code)"
        }
    }

    private func text(of reading: SubscriptionBufferState.Reading) -> String {
        switch reading {
        case .message(let message, let queued):
            "message \(message.id.rawValue)" + (queued.map { ", placed \($0.id.rawValue)" } ?? "")
        case .end: "end"
        case .none: "none"
        }
    }

    private func number(of reader: SubscriptionBuffer.Reader) -> Int {
        self.readers.firstIndex { $0 === reader } ?? -1
    }
}

/// A model of a buffer, with lists of numbers.
private struct BufferModel {
    let limit: Int
    let whenFull: MailboxConfiguration.Overflow

    private var buffer: [Int] = []
    private var line: [Int] = []
    private var readers: [Int] = []
    private var isOver = false

    init(limit: Int, whenFull: MailboxConfiguration.Overflow) {
        self.limit = limit
        self.whenFull = whenFull
    }

    mutating func offer(_ id: Int) -> String {
        if self.isOver { return "refused \(RoutingError.Code.shutDown)" }
        if !self.readers.isEmpty { return "read by \(self.readers.removeFirst())" }
        if self.buffer.count == self.limit {
            switch self.whenFull {
            case .fail: return "refused \(RoutingError.Code.mailboxFull)"
            case .suspend:
                self.line.append(id)
                return "queued \(id)"
            case .dropOldest:
                self.buffer.append(id)
                return "replaced \(self.buffer.removeFirst())"
            }
        }
        self.buffer.append(id)
        return "kept"
    }

    mutating func read() -> String {
        if self.buffer.isEmpty { return self.isOver ? "end" : "none" }
        let id = self.buffer.removeFirst()
        if self.line.isEmpty { return "message \(id)" }
        self.buffer.append(self.line.removeFirst())
        return "message \(id), placed \(self.buffer[self.buffer.count - 1])"
    }

    mutating func wait(_ reader: Int) -> String {
        if self.buffer.isEmpty, !self.isOver { self.readers.append(reader) }
        return self.read()
    }

    mutating func withdraw(_ id: Int) -> Bool {
        defer { self.line.removeAll { $0 == id } }
        return self.line.contains(id)
    }

    mutating func end() -> String {
        defer { (self.buffer, self.line, self.readers, self.isOver) = ([], [], [], true) }
        return "\(self.buffer) \(self.line) \(self.readers)"
    }
}

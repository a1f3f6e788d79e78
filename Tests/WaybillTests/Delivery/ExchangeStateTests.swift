import Testing
internal import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

@Suite
struct ExchangeStateTests {
    @Test
    func `random operations on an exchange give the results of plain lists`() throws {
        for seed in 0..<UInt64(Scale.of(100)) {
            var run = ExchangeRun(try StateParts(), seed: seed)
            for step in 0..<100 {
                let (operation, actual, expected) = run.step()
                try #require(actual == expected, "seed \(seed), step \(step), \(operation)")
            }
        }
    }

    @Test
    func `a message's exchange ends once, and releases its waiting parts`() throws {
        let parts = try StateParts()
        let handler = parts.handler()
        var state = parts.state(at: handler)
        let task = HandlerTask {}
        let isRecorded = [state.record { $0.isAttached = true }, state.record { $0.task = task }]
        guard let ending = state.end() else {
            Issue.record("the exchange has ended before")
            return
        }
        let (ended, waiting) = (ending.handler, ending.suspension)
        #expect(isRecorded == [true, true] && ended === handler)
        #expect(waiting?.isAttached == true && waiting?.task == task)
        let isEndedAgain = state.end() != nil
        let late = [state.record { $0.isAttached = true }, state.record { $0.task = task }]
        #expect(!isEndedAgain && late == [false, false] && state.isOver)
    }

    @Test
    func `a message ends once when its exchange has finished and is then cancelled`() throws {
        let parts = try StateParts()
        let ticket = parts.core.openTicket(on: nil)
        let exchange = Exchange(
            for: parts.message(Int(ticket.id.rawValue)),
            ticket: ticket,
            at: nil,
            to: .caller,
            core: parts.core
        )
        exchange.finish(.replied(7))
        exchange.cancel()
        #expect(parts.core.statistics.current.replied == 1 && parts.core.statistics.current.inFlight == 0)
    }

    @Test
    func `a message's ticket that is dropped traps in a debug build`() async {
        #if DEBUG
        await #expect(processExitsWith: .failure) {
            let parts = try StateParts()
            _ = parts.core.openTicket(on: nil)
        }
        #endif
    }

    @Test
    func `an outcome can be read once, after it has been counted`() throws {
        var state = try StateParts().state()
        _ = state.end()
        let early = state.takeOutcome()
        let reader = state.takeReader(orKeep: .replied(7))
        #expect(early == nil && reader == nil && !state.isRead)
        let outcome = try state.takeOutcome()?.value(as: Int.self, url: "app://state")
        let second = state.takeOutcome()
        #expect(outcome == 7 && second == nil && state.isRead)
    }

    @Test
    func `a reader that waited before the end receives the outcome`() throws {
        var state = try StateParts().state()
        let waiting = Exchange.Reader(on: nil)
        let event = state.takeEvent(orAdd: waiting)
        _ = state.end()
        let reader = state.takeReader(orKeep: .replied(7))
        #expect(event == nil && reader === waiting && state.isRead)
    }

    @Test
    func `the end of an exchange returns the handlers whose replies are not answered`() throws {
        var state = try StateParts().state()
        for number in 1...3 { _ = state.offer(.numbered(number)) }
        _ = state.takeEvent(orAdd: Exchange.Reader(on: nil))
        let waiting = state.end()?.suspension
        #expect(waiting?.unanswered.map(\.label) == [2, 3, 1])
        let answered = state.answer(to: nil)
        let isRefused = if case .refuse = state.offer(.numbered(4)) { true } else { false }
        #expect(answered == nil && isRefused)
    }
}

extension Exchange.State {
    /// Ends an exchange that has no message to end.
    fileprivate mutating func end() -> Ending? {
        var ticket: MessageTicket?
        let ending = self.finish(taking: &ticket)
        let hasTicket = ticket != nil
        #expect(!hasTicket)
        return ending
    }
}

extension Exchange.Progress {
    static func numbered(_ number: Int) -> Self {
        Self(value: number, context: nil, expectsAnswer: true, answer: Exchange.Answer(on: nil))
    }

    /// The number that ``numbered(_:)`` has stored.
    var label: Int? { self.value as? Int }
}

/// An ``Exchange/State``, and plain lists that perform the same operations.
private struct ExchangeRun: ~Copyable {
    private var state: Exchange.State
    private var random: SeededGenerator
    private var offered: [Exchange.Progress] = []

    // The expected state.
    private var isOver = false
    private var isClosed = false
    private var outcome: Int?
    private var reader: Exchange.Reader?
    private var unread: [Int] = []
    private var seen: Int?
    /// The numbers of the replies that the reader has received.
    private var shown: [Int] = []
    private var isAttached = false

    init(_ parts: StateParts, seed: UInt64) {
        self.state = parts.state(at: parts.handler())
        self.random = SeededGenerator(seed: seed)
    }

    /// Performs an operation, and returns its result and the expected result.
    mutating func step() -> (operation: String, actual: String, expected: String) {
        switch self.random.number(below: 24) {
        case 0: self.finish()
        case 1: self.close()
        case 2..<8: self.read()
        case 8..<14: self.offer()
        case 14..<18: self.answer()
        case 18..<22: self.withdraw()
        default: self.attach()
        }
    }

    private mutating func finish() -> (String, String, String) {
        let ending = self.state.end()
        defer { self.isOver = true }
        let isOver = ending == nil
        let waiting = ending?.suspension
        let numbers = waiting?.unanswered.compactMap(\.label) ?? []
        let actual = "\(isOver) \(waiting?.isAttached ?? false) \(numbers)"
        guard !self.isOver else { return ("finish", actual, "true false []") }
        let unanswered = self.unread + [self.seen].compactMap(\.self)
        (self.unread, self.seen) = ([], nil)
        return ("finish", actual, "false \(self.isAttached) \(unanswered)")
    }

    private mutating func close() -> (String, String, String) {
        guard self.isOver, !self.isClosed else { return ("none", "", "") }
        self.isClosed = true
        let actual = self.state.takeReader(orKeep: .replied(7))
        let expected = self.reader.take()
        if expected == nil { self.outcome = 7 }
        return ("close", "\(actual === expected)", "true")
    }

    private mutating func read() -> (String, String, String) {
        // A reader answers a reply or declines to before it reads the next one, and reads nothing after the
        // end.
        guard self.reader == nil, self.seen == nil, !self.state.isRead else { return ("none", "", "") }
        let reader = Exchange.Reader(on: nil)
        let actual = self.text(self.state.takeEvent(orAdd: reader))
        if self.outcome.take() != nil { return ("read", actual, "the end") }
        guard self.unread.isEmpty else {
            let number = self.unread.removeFirst()
            self.seen = number
            self.shown.append(number)
            return ("read", actual, "reply \(number)")
        }
        self.reader = reader
        return ("read", actual, "nothing")
    }

    private func text(_ event: Exchange.Event?) -> String {
        switch event {
        case .progress(let progress): "reply \(progress.label ?? 0)"
        case .finished: "the end"
        case nil: "nothing"
        }
    }

    private mutating func offer() -> (String, String, String) {
        let number = self.offered.count
        let progress = Exchange.Progress.numbered(number)
        self.offered.append(progress)
        let actual =
            switch self.state.offer(progress) {
            case .deliver(let reader, let event): "\(reader === self.reader) \(self.text(event))"
            case .keep: "kept"
            case .refuse: "refused"
            }
        if self.isOver { return ("offer", actual, "refused") }
        guard self.reader.take() != nil else {
            self.unread.append(number)
            return ("offer", actual, "kept")
        }
        self.seen = number
        self.shown.append(number)
        return ("offer", actual, "true reply \(number)")
    }

    private mutating func answer() -> (String, String, String) {
        if self.random.isOne(in: 2) {
            return ("answer", "\(self.state.answer(to: nil)?.label ?? -1)", "\(self.seen.take() ?? -1)")
        }
        guard let number = self.shown.suffix(2).randomElement(using: &self.random) else {
            return ("none", "", "")
        }
        let actual = self.state.answer(to: self.offered[number].answer)?.label ?? -1
        let expected = number == self.seen ? self.seen.take() : nil
        return ("answer to \(number)", "\(actual)", "\(expected ?? -1)")
    }

    private mutating func withdraw() -> (String, String, String) {
        guard !self.offered.isEmpty else { return ("none", "", "") }
        let number = self.random.number(below: self.offered.count)
        let actual = self.state.abandon(self.offered[number].answer)
        let isThere = self.seen == number || self.unread.contains(number)
        if self.seen == number { self.seen = nil }
        self.unread.removeAll { $0 == number }
        return ("withdraw \(number)", "\(actual)", "\(isThere)")
    }

    private mutating func attach() -> (String, String, String) {
        let actual = self.state.record { $0.isAttached = true }
        if !self.isOver { self.isAttached = true }
        return ("attach", "\(actual)", "\(!self.isOver)")
    }
}

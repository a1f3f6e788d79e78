internal import WaybillEventLoop
internal import WaybillRouting

extension Exchange {
    /// Decides; ``Exchange`` acts.
    struct State {
        /// Whether the outcome is decided.
        private(set) var isOver = false
        /// The outcome, from when it is counted until it is read; what outlives the handler keeps no value.
        private var outcome: Outcome?
        /// Whether the outcome has been read.
        private(set) var isRead = false
        /// The handler, until the exchange is over: a task that outlives the handler keeps the exchange.
        private var handler: Handler?
        /// What there is once the handler has suspended, or was not called in place.
        private var waiting: Waiting? {
            get { self.kept?.waiting }
            set { self.kept = newValue.map(Kept.kept) }
        }
        private var kept: Kept?

        /// One word for what most exchanges never have.
        fileprivate indirect enum Kept {
            case kept(Waiting)

            var waiting: Waiting {
                switch self {
                case .kept(let waiting): waiting
                }
            }
        }

        /// What waits for the handler, and what it waits for.
        struct Waiting {
            /// Whether the exchange is in the handler's list, and counts as in flight for its route.
            var isAttached = false
            var task: HandlerTask?
            var watch: DeadlineWatch?
            var reader: Reader?
            var unread: [Progress] = []
            /// What the reader has seen and not answered.
            var seen: Progress?
            /// How many the reader has seen.
            var shown = 0

            /// The progress replies without an answer.
            var unanswered: [Progress] { self.unread + (self.seen.map { [$0] } ?? []) }
        }

        /// What has to happen when an exchange ends.
        struct Effects {
            let handler: Handler?
            fileprivate let kept: Kept?

            var waiting: Waiting? { self.kept?.waiting }
            /// Whether the exchange was in the handler's list.
            var wasAttached: Bool { self.kept != nil && self.waiting?.isAttached == true }
        }

        enum OfferAction {
            case deliver(Reader, Event)
            case keep
            case refuse
        }

        init(handler: Handler?) { self.handler = handler }

        /// Decides that this is the end; ``close(taking:)`` must follow when the outcome is counted.
        ///
        /// - Returns: what that takes; nil if the end has been decided already.
        mutating func finish() -> Effects? {
            if self.isOver { return nil }
            self.isOver = true
            let effects = Effects(handler: self.handler.take(), kept: self.kept)
            if self.kept != nil { self.waiting = self.waiting?.reader.map { Waiting(reader: $0) } }
            return effects
        }

        /// Makes the outcome known: returns the reader that waits for it, or takes it for the one to come.
        mutating func close(taking outcome: inout Outcome?) -> Reader? {
            guard self.kept != nil, let reader = self.waiting.take()?.reader else {
                self.outcome = outcome.take()
                return nil
            }
            self.isRead = true
            return reader
        }

        /// Takes the outcome, if there is one that may be known.
        mutating func takeOutcome() -> Outcome? {
            guard let outcome = self.outcome.take() else { return nil }
            self.isRead = true
            return outcome
        }

        /// The next event, or nil if the reader has to wait for it.
        mutating func read(_ reader: Reader) -> Event? {
            if let outcome = self.takeOutcome() { return .finished(outcome) }
            var waiting = self.waiting ?? Waiting()
            defer { self.waiting = waiting }
            guard waiting.unread.isEmpty else { return waiting.show(waiting.unread.removeFirst()) }
            waiting.reader = reader
            return nil
        }

        /// Takes the progress reply that the reader has seen and now answers; nil if the handler no longer
        /// waits for its answer.
        mutating func answer() -> Progress? { self.waiting?.seen.take() }

        /// The same, if it is the one of a number.
        mutating func answer(to number: Int) -> Progress? {
            self.waiting?.shown == number ? self.waiting?.seen.take() : nil
        }

        mutating func offer(_ progress: Progress) -> OfferAction {
            if self.isOver { return .refuse }
            var waiting = self.waiting ?? Waiting()
            defer { self.waiting = waiting }
            if let reader = waiting.reader.take() { return .deliver(reader, waiting.show(progress)) }
            waiting.unread.append(progress)
            return .keep
        }

        /// Takes a reply back that has not been answered; false if there is none.
        mutating func withdraw(_ answer: Answer) -> Bool {
            if self.waiting?.seen?.answer === answer {
                self.waiting?.seen = nil
                return true
            }
            guard let index = self.waiting?.unread.firstIndex(where: { $0.answer === answer }) else {
                return false
            }
            self.waiting?.unread.remove(at: index)
            return true
        }

        /// Notes that the exchange is in its handler's list; true if it is over and has to leave it.
        mutating func attach() -> Bool { self.change { $0.isAttached = true } }

        /// Keeps the handler's task; true if the exchange is over and the task should stop.
        mutating func bind(task: HandlerTask) -> Bool { self.change { $0.task = task } }

        /// Keeps the deadline's timer; true if the exchange is over and the timer is not needed.
        mutating func bind(watch: DeadlineWatch) -> Bool { self.change { $0.watch = watch } }

        /// Changes what waits; true if the exchange is over, so that nothing waits.
        private mutating func change(_ body: (inout Waiting) -> Void) -> Bool {
            if self.isOver { return true }
            var waiting = self.waiting ?? Waiting()
            body(&waiting)
            self.waiting = waiting
            return false
        }
    }
}

extension Exchange.State.Waiting {
    mutating func show(_ progress: Exchange.Progress) -> Exchange.Event {
        self.seen = progress
        self.shown += 1
        return .progress(progress)
    }
}

internal import WaybillEventLoop
internal import WaybillRouting

extension Exchange {
    /// Decides; ``Exchange`` acts.
    struct State {
        private var outcome: Outcome?
        /// Whether the outcome is counted, and may be known.
        private var isClosed = false
        private var reader: Reader?
        private var unread: [Progress] = []
        /// What the reader has seen and not answered.
        private var seen: Progress?
        /// How many the reader has seen.
        private var shown = 0
        private var task: Task<Void, Never>?
        private var watch: DeadlineWatch?
        private var handler: Handler?

        /// What has to happen when an exchange ends.
        struct Effects {
            /// How it has ended, and where.
            var outcome: Outcome
            var unanswered: [Progress]
            var task: Task<Void, Never>?
            var watch: DeadlineWatch?
            var handler: Handler?
        }

        enum OfferAction {
            case deliver(Reader, Event)
            case keep
            case refuse
        }

        /// Decides the outcome; ``close()`` must follow when it is counted.
        mutating func finish(_ outcome: Outcome, at handler: Handler?) -> Effects? {
            guard self.outcome == nil else { return nil }
            let outcome = outcome.at(self.handler ?? handler)
            self.outcome = outcome
            let effects = Effects(
                outcome: outcome,
                unanswered: self.unread + (self.seen.map { [$0] } ?? []),
                task: self.task,
                watch: self.watch,
                handler: self.handler
            )
            self.unread = []
            self.seen = nil
            self.task = nil
            self.watch = nil
            self.handler = nil
            return effects
        }

        /// Makes the outcome known, and returns the reader that waits for it.
        mutating func close() -> Reader? {
            self.isClosed = true
            return self.reader.take()
        }

        /// How it ended, if it has and may be known.
        var known: Outcome? { self.isClosed ? self.outcome : nil }

        /// The next event, or nil if the reader has to wait for it.
        mutating func read(_ reader: Reader) -> Event? {
            if let known { return .finished(known) }
            guard self.unread.isEmpty else { return self.show(self.unread.removeFirst()) }
            self.reader = reader
            return nil
        }

        private mutating func show(_ progress: Progress) -> Event {
            self.seen = progress
            self.shown += 1
            return .progress(progress)
        }

        /// Takes the progress reply that the reader has seen and now answers; nil if the handler no longer
        /// waits for its answer.
        mutating func answer() -> Progress? { self.seen.take() }

        /// The same, if it is the one of a number.
        mutating func answer(to number: Int) -> Progress? { self.shown == number ? self.seen.take() : nil }

        var isOver: Bool { self.outcome != nil }

        mutating func offer(_ progress: Progress) -> OfferAction {
            guard self.outcome == nil else { return .refuse }
            if let reader = self.reader.take() { return .deliver(reader, self.show(progress)) }
            self.unread.append(progress)
            return .keep
        }

        /// Takes a reply back that has not been answered; false if there is none.
        mutating func withdraw(_ answer: Answer) -> Bool {
            if let seen, seen.answer === answer {
                self.seen = nil
                return true
            }
            guard let index = self.unread.firstIndex(where: { $0.answer === answer }) else { return false }
            self.unread.remove(at: index)
            return true
        }

        /// Keeps the handler that the exchange is attached to; true if the exchange is over and has to be
        /// detached.
        mutating func bind(handler: Handler) -> Bool {
            guard self.outcome == nil else { return true }
            self.handler = handler
            return false
        }

        /// Keeps the handler's task; true if the exchange is over and the task should stop.
        mutating func bind(task: Task<Void, Never>) -> Bool {
            guard self.outcome == nil else { return true }
            self.task = task
            return false
        }

        /// Keeps the deadline's timer; true if the exchange is over and the timer is not needed.
        mutating func bind(watch: DeadlineWatch) -> Bool {
            guard self.outcome == nil else { return true }
            self.watch = watch
            return false
        }
    }
}

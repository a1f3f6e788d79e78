internal import WaybillEventLoop
internal import WaybillRouting

extension Exchange {
    /// Decides what must happen; ``Exchange`` does it.
    struct State: ~Copyable {
        /// Whether the outcome is decided.
        private(set) var isOver = false
        /// Whether the outcome has been read.
        private(set) var isRead = false
        /// Whether the exchange ends a message, and is not an attempt to deliver one.
        let isCounted: Bool
        /// The obligation to end the message, until the outcome is decided.
        private var ticket: MessageTicket?
        /// The handler, until the outcome is decided: a task that outlives the handler keeps the exchange.
        private var handler: Handler?
        /// The outcome, from when it is counted until it is read; an exchange that outlives that keeps no
        /// value.
        private var outcome: Outcome?
        /// The reader that waits for the next event.
        private var reader: Reader?
        /// What there is once the handler has suspended, or was not called in place.
        ///
        /// It is no optional: in a value that cannot be copied, Swift 6.3 leaks what is assigned by optional
        /// chaining.
        private var waiting = Waiting()
        private var isWaiting = false

        /// What waits for a handler, and what it waits for.
        struct Waiting {
            /// Whether the exchange is registered with its handler, and counts as in flight for its route.
            fileprivate(set) var isAttached = false
            /// The message's place in the handler's mailbox, while it waits there.
            fileprivate(set) var queued: QueuedTask?
            fileprivate(set) var task: HandlerTask?
            fileprivate(set) var watch: DeadlineWatch?
            fileprivate var unread: [Progress] = []
            /// The progress reply that the reader has seen and not answered.
            fileprivate var seen: Progress?
            /// How many progress replies the reader has seen.
            fileprivate var shown = 0

            /// The progress replies without an answer.
            var unanswered: [Progress] { self.unread + (self.seen.map { [$0] } ?? []) }

            fileprivate mutating func show(_ progress: Progress) -> Event {
                self.seen = progress
                self.shown += 1
                return .progress(progress)
            }
        }

        /// What is released when an exchange ends.
        struct Ending {
            let handler: Handler?
            let waiting: Waiting?
        }

        enum OfferAction {
            case deliver(Reader, Event)
            case keep
            case refuse
        }

        init(ticket: consuming MessageTicket?, handler: Handler?) {
            self.isCounted = ticket != nil
            self.ticket = ticket
            self.handler = handler
        }

        /// Decides that this is the end; ``close(with:)`` must follow when the outcome is counted.
        ///
        /// - Parameter ticket: Gets the obligation to end the message, if the exchange ends one.
        /// - Returns: What the end releases; nil when the end has been decided already.
        mutating func finish(taking ticket: inout MessageTicket?) -> Ending? {
            if self.isOver { return nil }
            self.isOver = true
            ticket = self.ticket.take()
            defer { self.waiting = Waiting() }
            return Ending(handler: self.handler.take(), waiting: self.isWaiting ? self.waiting : nil)
        }

        /// Makes the outcome known.
        ///
        /// - Returns: The reader that waits for the outcome; nil when the outcome is kept for the next one.
        mutating func close(with outcome: Outcome) -> Reader? {
            guard let reader = self.reader.take() else {
                self.outcome = outcome
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

        /// Returns the next event, or nil when the reader has to wait for it.
        mutating func read(_ reader: Reader) -> Event? {
            if let outcome = self.takeOutcome() { return .finished(outcome) }
            if let progress = self.waiting.unread.first {
                self.waiting.unread.removeFirst()
                return self.waiting.show(progress)
            }
            self.reader = reader
            return nil
        }

        /// Takes the progress reply that the reader has seen and now answers; nil when the handler no longer
        /// waits for its answer.
        mutating func answer() -> Progress? { self.waiting.seen.take() }

        /// Takes the progress reply of a number, if the reader has seen it last and now answers it.
        mutating func answer(to number: Int) -> Progress? {
            self.waiting.shown == number ? self.waiting.seen.take() : nil
        }

        mutating func offer(_ progress: Progress) -> OfferAction {
            if self.isOver { return .refuse }
            self.isWaiting = true
            if let reader = self.reader.take() { return .deliver(reader, self.waiting.show(progress)) }
            self.waiting.unread.append(progress)
            return .keep
        }

        /// Takes a progress reply back that has not been answered; false when there is none.
        mutating func withdraw(_ answer: Answer) -> Bool {
            if self.waiting.seen?.answer === answer {
                self.waiting.seen = nil
                return true
            }
            guard let index = self.waiting.unread.firstIndex(where: { $0.answer === answer }) else {
                return false
            }
            self.waiting.unread.remove(at: index)
            return true
        }

        /// Notes that the exchange is registered with its handler, and where it waits in the mailbox.
        ///
        /// - Returns: true when the exchange is over and has to leave both.
        mutating func attach(_ queued: QueuedTask? = nil) -> Bool {
            if self.isOver { return true }
            self.isWaiting = true
            self.waiting.isAttached = true
            self.waiting.queued = queued
            return false
        }

        /// Notes that the handler begins; false when the exchange is over.
        mutating func begin() -> Bool {
            self.waiting.queued = nil
            return !self.isOver
        }

        /// Keeps the handler's task; true when the exchange is over and the task should be cancelled.
        mutating func bind(task: HandlerTask) -> Bool {
            if self.isOver { return true }
            self.isWaiting = true
            self.waiting.task = task
            return false
        }

        /// Keeps the deadline's timer; true when the exchange is over and the timer is not needed.
        mutating func bind(watch: DeadlineWatch) -> Bool {
            if self.isOver { return true }
            self.isWaiting = true
            self.waiting.watch = watch
            return false
        }
    }
}

internal import WaybillEventLoop
internal import WaybillRouting

extension Exchange {
    /// The state machine of an exchange.
    ///
    /// It decides on actions, and ``Exchange`` performs them.
    struct State: ~Copyable {
        /// Whether the outcome is decided.
        private(set) var isOver = false
        /// Whether the outcome has been read.
        private(set) var isRead = false
        /// Whether the exchange ends a message.
        ///
        /// The exchange of one delivery attempt does not end its message.
        let isCounted: Bool
        /// The obligation to end the message, until the outcome is decided.
        private var ticket: MessageTicket?
        /// The handler, until the outcome is decided.
        ///
        /// A task that outlives the handler retains the exchange, and must not retain the handler.
        private var handler: Handler?
        /// The outcome, between the time when it is counted and the time when it is read.
        ///
        /// An exchange that lives longer does not retain the value.
        private var outcome: Outcome?
        /// The reader that waits for the next event.
        private var reader: Reader?
        /// The state of a handler that has suspended or waits in the mailbox.
        ///
        /// The property is not optional because Swift 6.3 leaks values that are assigned by optional chaining
        /// in a noncopyable value.
        private var waiting = Waiting()
        private var isWaiting = false

        /// The parts of an exchange that exist only while its handler is waiting or suspended.
        struct Waiting {
            /// Whether the exchange is registered with its handler and counts as in flight for its route.
            fileprivate(set) var isAttached = false
            /// The message in the handler's mailbox, while it waits there.
            fileprivate(set) var queued: QueuedTask?
            fileprivate(set) var task: HandlerTask?
            fileprivate(set) var watch: DeadlineWatch?
            fileprivate var unread: [Progress] = []
            /// The progress reply that the reader has received but not answered.
            fileprivate var seen: Progress?
            /// The number of progress replies that the reader has received.
            fileprivate var shown = 0

            /// The progress replies without an answer.
            var unanswered: [Progress] { self.unread + (self.seen.map { [$0] } ?? []) }

            fileprivate mutating func show(_ progress: Progress) -> Event {
                self.seen = progress
                self.shown += 1
                return .progress(progress)
            }
        }

        /// The parts of an exchange that are released when it ends.
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

        /// Decides the end of the exchange.
        ///
        /// Call ``close(with:)`` after the outcome has been counted.
        ///
        /// - Parameter ticket: Receives the obligation to end the message, if the exchange ends a message.
        /// - Returns: The parts to release, or nil when the end has already been decided.
        mutating func finish(taking ticket: inout MessageTicket?) -> Ending? {
            if self.isOver { return nil }
            self.isOver = true
            ticket = self.ticket.take()
            defer { self.waiting = Waiting() }
            return Ending(handler: self.handler.take(), waiting: self.isWaiting ? self.waiting : nil)
        }

        /// Publishes the outcome.
        ///
        /// - Returns: The reader that waits for the outcome, or nil when the outcome is kept for the next
        ///   reader.
        mutating func close(with outcome: Outcome) -> Reader? {
            guard let reader = self.reader.take() else {
                self.outcome = outcome
                return nil
            }
            self.isRead = true
            return reader
        }

        /// Takes the outcome, or returns nil when it is not published or has been taken.
        mutating func takeOutcome() -> Outcome? {
            guard let outcome = self.outcome.take() else { return nil }
            self.isRead = true
            return outcome
        }

        /// Returns the next event, or nil when the reader has to wait for it.
        mutating func takeEvent(orAdd reader: Reader) -> Event? {
            if let outcome = self.takeOutcome() { return .finished(outcome) }
            if let progress = self.waiting.unread.first {
                self.waiting.unread.removeFirst()
                return self.waiting.show(progress)
            }
            self.reader = reader
            return nil
        }

        /// Takes the progress reply that the reader answers, or returns nil when the handler no longer waits
        /// for the answer.
        mutating func answer() -> Progress? { self.waiting.seen.take() }

        /// Takes the progress reply that has the given number.
        ///
        /// Returns nil when the reader has received a later progress reply, or when the handler no longer
        /// waits for the answer.
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

        /// Removes a progress reply that has not been answered.
        ///
        /// - Returns: false when the progress reply has been answered or removed.
        mutating func abandon(_ answer: Answer) -> Bool {
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

        /// Records that the exchange is registered with its handler, and stores its message in the mailbox.
        ///
        /// - Returns: true when the exchange is over and must be detached from the handler.
        mutating func attach(_ queued: QueuedTask? = nil) -> Bool {
            if self.isOver { return true }
            self.isWaiting = true
            self.waiting.isAttached = true
            self.waiting.queued = queued
            return false
        }

        /// Records that the handler begins.
        ///
        /// - Returns: false when the exchange is over.
        mutating func begin() -> Bool {
            self.waiting.queued = nil
            return !self.isOver
        }

        /// Stores the handler's task.
        ///
        /// - Returns: true when the exchange is over and the task must be cancelled.
        mutating func bind(task: HandlerTask) -> Bool {
            if self.isOver { return true }
            self.isWaiting = true
            self.waiting.task = task
            return false
        }

        /// Stores the deadline's timer.
        ///
        /// - Returns: true when the exchange is over and the timer is not needed.
        mutating func bind(watch: DeadlineWatch) -> Bool {
            if self.isOver { return true }
            self.isWaiting = true
            self.waiting.watch = watch
            return false
        }
    }
}

internal import WaybillEventLoop
internal import WaybillRouting

extension Exchange {
    /// The state machine of an exchange.
    ///
    /// The state machine decides on actions, and ``Exchange`` performs the actions.
    struct State: ~Copyable {
        /// Whether the outcome is decided.
        var isOver: Bool { self.message == nil }
        /// Whether the outcome has been read.
        private(set) var isRead = false
        // The next three properties are nil after the outcome is decided. A task that the handler has started
        // may retain the exchange for longer, and must retain neither the handler nor the caller's values.
        private var ticket: MessageTicket?
        private var handler: Handler?
        private var message: Message?
        /// The outcome, from the time when it is counted until a reader takes it.
        ///
        /// An exchange that lives longer does not retain the value of the reply.
        private var outcome: Outcome?
        /// The continuation of the caller that waits for the next event.
        private var reader: Reader?
        /// The state of a handler that has suspended or waits in the mailbox.
        ///
        /// The property is not optional because Swift 6.3 leaks values that are assigned by optional chaining
        /// in a noncopyable value.
        private var suspension = Suspension()
        private var isSuspended = false

        /// The parts of an exchange that exist only while its handler is waiting or suspended.
        struct Suspension {
            /// Whether the exchange is registered with its handler or the bus and counts as in flight.
            var isAttached = false
            /// The message in the handler's mailbox, while it waits there.
            var queued: QueuedTask?
            var task: HandlerTask?
            var watch: DeadlineWatch?
            fileprivate var unread: [Progress] = []
            /// The progress reply that the reader has received but not answered.
            fileprivate var seen: Progress?

            /// The progress replies that the caller has not answered.
            var unanswered: [Progress] { self.seen.map { self.unread + [$0] } ?? self.unread }

            fileprivate mutating func show(_ progress: Progress) -> Event {
                self.seen = progress
                return .progress(progress)
            }
        }

        /// The parts of an exchange that are released when the outcome is decided.
        struct Ending {
            let message: Message
            let handler: Handler?
            let suspension: Suspension?
        }

        enum OfferAction {
            case deliver(Reader, Event)
            case keep
            case refuse
        }

        init(of message: Message, ticket: consuming MessageTicket?, handler: Handler?) {
            self.ticket = ticket
            self.handler = handler
            self.message = message
        }

        /// Decides that the exchange is over and returns the parts to release, or returns nil when the
        /// exchange was already over.
        ///
        /// `ticket` receives the obligation to settle the message, if the exchange settles a message. Call
        /// ``takeReader(orKeep:)`` after the outcome has been counted.
        mutating func finish(taking ticket: inout MessageTicket?) -> Ending? {
            guard let message = self.message.take() else { return nil }
            ticket = self.ticket.take()
            return Ending(
                message: message,
                handler: self.handler.take(),
                suspension: self.isSuspended ? Swift.exchange(&self.suspension, with: Suspension()) : nil
            )
        }

        /// Returns the waiting reader, or keeps the outcome for the next reader and returns nil.
        mutating func takeReader(orKeep outcome: Outcome) -> Reader? {
            guard let reader = self.reader.take() else {
                self.outcome = outcome
                return nil
            }
            self.isRead = true
            return reader
        }

        /// Takes the outcome, or returns nil when the outcome is not yet available or has been taken.
        mutating func takeOutcome() -> Outcome? {
            guard let outcome = self.outcome.take() else { return nil }
            self.isRead = true
            return outcome
        }

        /// Takes the next event, or stores the reader and returns nil when no event has occurred yet.
        mutating func takeEvent(orAdd reader: Reader) -> Event? {
            if let outcome = self.takeOutcome() { return .finished(outcome) }
            if let progress = self.suspension.unread.first {
                self.suspension.unread.removeFirst()
                return self.suspension.show(progress)
            }
            self.reader = reader
            return nil
        }

        /// Takes the progress reply that ``Exchange/answer(_:to:)`` answers, or returns nil.
        mutating func answer(to answer: Answer?) -> Progress? {
            if let answer, self.suspension.seen?.answer !== answer { return nil }
            return self.suspension.seen.take()
        }

        mutating func offer(_ progress: Progress) -> OfferAction {
            if self.isOver { return .refuse }
            self.isSuspended = true
            if let reader = self.reader.take() { return .deliver(reader, self.suspension.show(progress)) }
            self.suspension.unread.append(progress)
            return .keep
        }

        mutating func abandon(_ answer: Answer) -> Bool {
            if self.suspension.seen?.answer === answer {
                self.suspension.seen = nil
                return true
            }
            guard let index = self.suspension.unread.firstIndex(where: { $0.answer === answer }) else {
                return false
            }
            self.suspension.unread.remove(at: index)
            return true
        }

        /// The decision of ``Exchange/begin()``.
        mutating func begin() -> Bool {
            self.suspension.queued = nil
            return !self.isOver
        }

        /// Records a resource of the handler, or returns false when the exchange is over and the caller must
        /// release the resource.
        mutating func record(_ change: (inout Suspension) -> Void) -> Bool {
            if self.isOver { return false }
            self.isSuspended = true
            change(&self.suspension)
            return true
        }
    }
}

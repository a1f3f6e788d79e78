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
        /// The reader that waits for the next event.
        private var reader: Reader?
        /// What there is once the handler has suspended, or was not called in place.
        private var waiting: Waiting?

        /// What has to happen when an exchange ends.
        struct Effects {
            let handler: Handler?
            let waiting: Waiting?

            /// Whether the exchange was in the handler's list.
            var wasAttached: Bool { unsafe self.waiting?.isAttached == true }
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
            return Effects(handler: self.handler.take(), waiting: self.waiting.take())
        }

        /// Makes the outcome known: returns the reader that waits for it, or takes it for the one to come.
        mutating func close(taking outcome: inout Outcome?) -> Reader? {
            guard let reader = self.reader.take() else {
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
            if let waiting, unsafe !waiting.unread.isEmpty {
                return waiting.show(unsafe waiting.unread.removeFirst())
            }
            self.reader = reader
            return nil
        }

        /// Takes the progress reply that the reader has seen and now answers; nil if the handler no longer
        /// waits for its answer.
        mutating func answer() -> Progress? { unsafe self.waiting?.seen.take() }

        /// The same, if it is the one of a number.
        mutating func answer(to number: Int) -> Progress? {
            unsafe self.waiting?.shown == number ? self.waiting?.seen.take() : nil
        }

        mutating func offer(_ progress: Progress) -> OfferAction {
            if self.isOver { return .refuse }
            let waiting = self.wait()
            if let reader = self.reader.take() { return .deliver(reader, waiting.show(progress)) }
            unsafe waiting.unread.append(progress)
            return .keep
        }

        /// Takes a reply back that has not been answered; false if there is none.
        mutating func withdraw(_ answer: Answer) -> Bool {
            if unsafe self.waiting?.seen?.answer === answer {
                unsafe self.waiting?.seen = nil
                return true
            }
            guard let index = unsafe self.waiting?.unread.firstIndex(where: { $0.answer === answer }) else {
                return false
            }
            unsafe self.waiting?.unread.remove(at: index)
            return true
        }

        /// Notes that the exchange is in its handler's list, and waits in its mailbox if it does; true if the
        /// exchange is over and has to leave them.
        mutating func attach(_ queued: QueuedTask? = nil) -> Bool {
            if self.isOver { return true }
            let waiting = self.wait()
            unsafe waiting.isAttached = true
            unsafe waiting.queued = queued
            unsafe waiting.isQueued = queued != nil
            return false
        }

        /// Notes that the handler begins; false if the exchange is over.
        mutating func begin() -> Bool {
            unsafe self.waiting?.isQueued = false
            return !self.isOver
        }

        /// Keeps the handler's task; true if the exchange is over and the task should stop.
        mutating func bind(task: HandlerTask) -> Bool {
            if self.isOver { return true }
            unsafe self.wait().task = task
            return false
        }

        /// Keeps the deadline's timer; true if the exchange is over and the timer is not needed.
        mutating func bind(watch: DeadlineWatch) -> Bool {
            if self.isOver { return true }
            unsafe self.wait().watch = watch
            return false
        }

        private mutating func wait() -> Waiting {
            if let waiting { return waiting }
            let waiting = Waiting()
            self.waiting = waiting
            return waiting
        }
    }

    /// What waits for a handler, and what it waits for.
    ///
    /// It is touched under the lock of the state that has it, and by the call that has ended the exchange; each
    /// `unsafe` above is the former.
    final class Waiting: Sendable {
        /// Whether the exchange is in the handler's list, and counts as in flight for its route.
        @exclusivity(unchecked)
        nonisolated(unsafe) fileprivate(set) var isAttached = false
        /// The message's place in the handler's mailbox, if it has waited there; kept for ``Reader`` to release.
        @exclusivity(unchecked)
        nonisolated(unsafe) fileprivate(set) var queued: QueuedTask?
        /// Whether it waits there still, for all that the exchange knows.
        @exclusivity(unchecked)
        nonisolated(unsafe) fileprivate(set) var isQueued = false
        @exclusivity(unchecked)
        nonisolated(unsafe) fileprivate(set) var task: HandlerTask?
        @exclusivity(unchecked)
        nonisolated(unsafe) fileprivate(set) var watch: DeadlineWatch?
        @exclusivity(unchecked)
        nonisolated(unsafe) fileprivate var unread: [Progress] = []
        /// What the reader has seen and not answered.
        @exclusivity(unchecked)
        nonisolated(unsafe) fileprivate var seen: Progress?
        /// How many the reader has seen.
        @exclusivity(unchecked)
        nonisolated(unsafe) fileprivate var shown = 0

        /// The progress replies without an answer.
        var unanswered: [Progress] {
            guard let seen = unsafe self.seen else { return unsafe self.unread }
            return unsafe self.unread + [seen]
        }

        fileprivate func show(_ progress: Progress) -> Event {
            unsafe self.seen = progress
            unsafe self.shown += 1
            return .progress(progress)
        }
    }
}

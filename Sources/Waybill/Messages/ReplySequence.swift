internal import Synchronization
internal import WaybillEventLoop
public import WaybillRouting

/// The replies to one request in the order in which they arrive: the progress replies and the last reply.
///
/// Each iteration makes its own request when it begins. After each progress reply, the handler waits until
/// the loop asks for the next reply. If the loop ends early, the handler is cancelled.
public struct Replies: AsyncSequence, Sendable {
    /// The error of the request when it fails, and which ends the sequence without a last reply.
    public typealias Failure = RoutingError

    let core: BusCore
    let request: Request
    /// The maximum duration of a request, measured from the beginning of an iteration.
    let timeout: Duration?

    /// Begins an iteration, which makes its own request.
    public func makeAsyncIterator() -> Iterator {
        var request = self.request
        request.limit(to: self.timeout, by: self.core.time)
        return Iterator(core: self.core, request: request)
    }

    /// One request and its replies.
    public struct Iterator: AsyncIteratorProtocol {
        let core: BusCore
        let request: Request
        fileprivate var stream: ReplyStream?
        fileprivate var isAnswerDue = false
        fileprivate var isAtEnd = false

        /// Returns the next reply, or nil after the last reply.
        ///
        /// - Throws: The reason why the request failed. Later calls return nil.
        public mutating func next() async throws(RoutingError) -> Reply? {
            try await self.nextReply()
        }

        /// Returns the next reply to a caller that is isolated to an actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RoutingError) -> Reply? {
            try await self.nextReply()
        }

        private nonisolated(nonsending) mutating func nextReply() async throws(RoutingError) -> Reply? {
            guard !self.isAtEnd else { return nil }
            if let stream = self.stream {
                await EventLoop.yieldIfDue()
                return try await self.nextReply(stream)
            }
            // Read the context of the calling handler before the suspension, because it is unknown
            // afterwards.
            let request = self.request.inheriting(on: self.core.currentShard)
            await EventLoop.yieldIfDue()
            let delivery = self.core.performSteps(of: request, on: self.core.currentShard)
            guard case .ownTask(let exchange) = delivery else {
                // The handler cannot suspend, so it sends no progress replies.
                self.isAtEnd = true
                return try await self.core.result(of: delivery).reply(from: self.request.url)
            }
            let stream = ReplyStream(exchange)
            self.stream = stream
            return try await self.nextReply(stream)
        }

        private nonisolated(nonsending) mutating func nextReply(
            _ stream: ReplyStream
        ) async throws(RoutingError) -> Reply? {
            if self.isAnswerDue { stream.answer() }
            self.isAnswerDue = false
            switch await stream.nextEvent() {
            case .progress(let progress):
                self.isAnswerDue = true
                return Reply(
                    correlationID: stream.exchange.id,
                    content: progress.value,
                    url: self.request.url,
                    isLast: false,
                    returnLeg: nil,
                    answer: (stream.exchange, progress.answer)
                )
            case .finished(let outcome):
                self.isAtEnd = true
                return try stream.exchange.result(outcome).reply(from: self.request.url)
            }
        }
    }
}

/// An exchange whose caller asks for the replies one by one, cancelled when the stream is released.
final class ReplyStream: Sendable {
    let exchange: Exchange
    /// The task that has received a progress reply and has not asked for the next reply.
    private let reader = Locked<UInt?>(nil)

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit {
        self.endReading()
        self.exchange.cancel()
    }

    nonisolated(nonsending) func nextEvent() async -> Exchange.Event {
        self.endReading()
        var event = await self.exchange.nextEvent()
        while case .progress(let progress) = event, progress.value is ListenerProbe {
            self.answer()
            event = await self.exchange.nextEvent()
        }
        if case .progress(let progress) = event, let context = progress.context {
            let task = ReplyReaders.enter(context, of: self.exchange)
            self.reader.withLock { $0 = task }
        }
        return event
    }

    private func endReading() {
        guard let task = self.reader.withLock({ $0.take() }) else { return }
        ReplyReaders.leave(self.exchange, from: task)
    }

    /// Answers the latest progress reply with `()`, which resumes the handler that waits for the answer.
    func answer() { self.exchange.answer(.success(())) }
}

/// The tasks that run the body of a `for` loop over the replies to a message.
///
/// The handler of the message waits until the loop asks for the next reply, so messages of the loop's body
/// belong to the context of that handler. A task-local value cannot be set for the body, so this type finds
/// the context by the number of the task. If a program keeps an iterator longer than the task that has used
/// it, a later task with the same number also gets the context.
enum ReplyReaders {
    /// A reply that a task has received, with the context of the handler that waits for the task.
    private typealias Entry = (context: DeliveryContext, exchange: Exchange)

    // Most programs never read replies in a loop. In these programs, a message reads only this counter.
    private static let count = Atomic<Int>(0)
    private static let entries = Locked<[UInt: [Entry]]>([:])

    /// Records that the calling task has received a reply, and returns the task for ``leave(_:from:)``.
    static func enter(_ context: DeliveryContext, of exchange: Exchange) -> UInt {
        let task = CurrentTask.id
        self.entries.withLock { $0[task, default: []].append((context.adopted(), exchange)) }
        self.count.add(1, ordering: .relaxed)
        return task
    }

    /// Records that the reader has requested the next reply or has stopped reading.
    static func leave(_ exchange: Exchange, from task: UInt) {
        self.entries.withLock { entries in
            entries[task]?.removeAll { $0.exchange === exchange }
            if entries[task]?.isEmpty == true { entries[task] = nil }
        }
        self.count.subtract(1, ordering: .relaxed)
    }

    /// Returns the context of the handler whose reply the calling task received last, or nil when this
    /// context is not nested in the context `outer`.
    @inline(__always)
    static func context(inside outer: DeliveryContext?) -> DeliveryContext? {
        guard self.count.load(ordering: .relaxed) > 0 else { return nil }
        return self.find(inside: outer)
    }

    @inline(never)
    private static func find(inside outer: DeliveryContext?) -> DeliveryContext? {
        let entries = self.entries.withLock { $0[CurrentTask.id] ?? [] }
        let last = entries.last { !$0.exchange.isOver }?.context
        // If the task has begun to handle another message since then, the context of that message is the
        // inner one.
        guard let outer else { return last }
        return last.flatMap { $0.isInside(outer) ? $0 : nil }
    }
}

internal import Synchronization
internal import WaybillEventLoop
public import WaybillRouting

/// The replies to one request as they come: the progress replies and the last reply.
///
/// The request is made when the iteration begins. The handler goes no faster than the loop over the replies:
/// it waits until the next one is asked for. Leaving the loop early cancels the handler.
public struct Replies: AsyncSequence, Sendable {
    /// Why there are no more replies, if the handler did not return.
    public typealias Failure = RoutingError

    let core: BusCore
    let request: Request
    /// How long a request may take, from the beginning of an iteration on.
    let timeout: Duration?

    /// Begins an iteration, which makes a request of its own.
    public func makeAsyncIterator() -> Iterator {
        var request = self.request
        request.limit(to: self.timeout, by: self.core.time)
        return Iterator(core: self.core, request: request)
    }

    /// One request, and its replies.
    public struct Iterator: AsyncIteratorProtocol {
        let core: BusCore
        let request: Request
        private var stream: ReplyStream?
        private var isAnswerDue = false
        private var isAtEnd = false
        /// How many progress replies there were.
        private var progress = 0

        init(core: BusCore, request: Request) {
            self.core = core
            self.request = request
        }

        /// The next reply, or nil after the last one.
        ///
        /// - Throws: the reason that there is no last reply, once.
        public mutating func next() async throws(RoutingError) -> Reply? {
            try await self.read()
        }

        /// The next reply, for a caller that is isolated to an actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RoutingError) -> Reply? {
            try await self.read()
        }

        private nonisolated(nonsending) mutating func read() async throws(RoutingError) -> Reply? {
            guard !self.isAtEnd else { return nil }
            // The first step makes the request, which yields by itself.
            if self.stream != nil { await EventLoop.yieldIfDue() }
            let stream =
                if let stream = self.stream { stream } else {
                    await self.core.openReplyStream(self.request)
                }
            self.stream = stream
            if self.isAnswerDue { stream.answer() }
            self.isAnswerDue = false
            switch await stream.next() {
            case .progress(let progress):
                self.isAnswerDue = true
                self.progress += 1
                return self.reply(
                    stream,
                    progress.value,
                    answer: AnswerSlot(exchange: stream.exchange, number: self.progress)
                )
            case .finished(let outcome):
                self.isAtEnd = true
                return self.reply(stream, try outcome.value())
            }
        }

        private func reply(
            _ stream: ReplyStream,
            _ value: any Sendable,
            answer: AnswerSlot? = nil
        ) -> Reply {
            let isLast = answer == nil
            return Reply(
                correlationID: stream.exchange.id,
                value: value,
                url: self.request.url,
                isLast: isLast,
                returnLeg: isLast ? stream.exchange.returnPath.map(ReturnLeg.init) : nil,
                answer: answer
            )
        }
    }
}

/// An exchange whose replies are asked for one by one; it is cancelled when the stream is released.
final class ReplyStream: Sendable {
    let exchange: Exchange
    /// The task that has a reply and has not asked for the next one, if there is one.
    private let reader = Locked<UInt?>(nil)

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit {
        self.endReading()
        self.exchange.cancel()
    }

    nonisolated(nonsending) func next() async -> Exchange.Event {
        self.endReading()
        var event = await self.exchange.next()
        while case .progress(let progress) = event, progress.value is ListenerProbe {
            self.answer()
            event = await self.exchange.next()
        }
        if case .progress(let progress) = event, let context = progress.context {
            let task = ReplyReaders.add(context, of: self.exchange)
            self.reader.withLock { $0 = task }
        }
        return event
    }

    private func endReading() {
        guard let task = self.reader.withLock({ $0.take() }) else { return }
        ReplyReaders.remove(self.exchange, from: task)
    }

    /// Resumes the handler that waits for an answer to the latest reply.
    func answer() { self.exchange.answer(.success(())) }
}

extension BusCore {
    /// Makes a request whose replies are asked for one by one.
    nonisolated(nonsending) func openReplyStream(_ request: Request) async -> ReplyStream {
        let request = request.inheriting(on: self.currentShard)
        await EventLoop.yieldIfDue()
        let shard = self.currentShard
        let ticket = self.open(on: shard)
        let error = self.rejection(of: request)
        let route = self.resolve(request, on: shard)
        let chain = self.registry.chain
        if error == nil, let chain, route.target.handler != nil || route.target.failure.code == .noRoute {
            let request = chain.isObserved ? request.noting(.request, on: self) : request
            return ReplyStream(self.intercept(request, ticket, route, by: chain, to: .caller))
        }
        guard error == nil, let handler = route.target.handler else {
            let exchange = Exchange(ticket, for: request, at: nil, to: .caller, core: self)
            exchange.finish(.failed(error ?? route.target.failure), of: request, by: nil)
            return ReplyStream(exchange)
        }
        // Every handler runs in a task here, which ends its turn.
        let place = handler.mailbox.place(ticket.id, isImmediate: false)
        let (exchange, message) = self.exchange(request, ticket, route.parameters, at: handler, to: .caller)
        exchange.start(message, at: handler, place: place, on: self.watcher(of: request.expiry))
        return ReplyStream(exchange)
    }
}

/// The tasks that are in the body of a loop over the replies to a message.
///
/// The handler of that message waits until the loop comes back for the next reply. The body is code of the
/// caller, which no task-local value can reach, so the context of the handler is found by the task.
enum ReplyReaders {
    /// One loop over replies.
    struct Entry {
        let context: DeliveryContext
        let exchange: Exchange
    }

    // Most programs never read replies in a loop: then this is all that a route looks at.
    private static let count = Atomic<Int>(0)
    private static let entries = Locked<[UInt: [Entry]]>([:])

    /// Notes that the calling task has a reply of an exchange, and that the handler waits for the next step.
    ///
    /// - Returns: the task, to ``remove(_:from:)`` it.
    static func add(_ context: DeliveryContext, of exchange: Exchange) -> UInt {
        let task = CurrentTask.id
        self.entries.withLock {
            $0[task, default: []].append(Entry(context: context.adopted(), exchange: exchange))
        }
        self.count.add(1, ordering: .relaxed)
        return task
    }

    /// Notes that the reader asks for the next reply, or has stopped reading.
    static func remove(_ exchange: Exchange, from task: UInt) {
        self.entries.withLock { entries in
            entries[task]?.removeAll { $0.exchange === exchange }
            if entries[task]?.isEmpty == true { entries[task] = nil }
        }
        self.count.subtract(1, ordering: .relaxed)
    }

    /// The context of the innermost reply that the calling task has, if that is inside of another context.
    @inline(__always)
    static func context(inside outer: DeliveryContext?) -> DeliveryContext? {
        guard self.count.load(ordering: .relaxed) > 0 else { return nil }
        return self.find(inside: outer)
    }

    @inline(never)
    private static func find(inside outer: DeliveryContext?) -> DeliveryContext? {
        let entries = self.entries.withLock { $0[CurrentTask.id] ?? [] }
        let last = entries.last { !$0.exchange.isOver }?.context
        // A handler that the body's task has come to since has a context of its own, which is the inner one.
        guard let outer else { return last }
        return last.flatMap { $0.isInside(outer) ? $0 : nil }
    }
}

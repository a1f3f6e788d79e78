internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The dialogue of one caller and one handler that runs in its own task: progress replies, their answers, and
/// one outcome.
///
/// The first of these events decides the outcome: the handler ends, the deadline passes, the caller is
/// cancelled, the handler is unregistered, or the mailbox rejects the message. ``State`` decides the actions,
/// and this class performs the actions outside of the lock.
///
/// The handler's messages inherit their context from the exchange, so a context needs no other allocation.
@usableFromInline
final class Exchange: Sendable {
    let id: CorrelationID
    let url: String
    let hops: Int
    /// The time at which the caller stops waiting.
    let expiry: Deadline
    let recipient: Recipient
    /// The return URL that also receives the value of the reply, or nil.
    let returnPath: ReturnPath?
    let core: BusCore
    /// The context of the handler that waits for the reply, or nil when no handler does.
    let outer: DeliveryContext?
    /// Whether the exchange settles a message, unlike the exchange of a single delivery attempt.
    let isCounted: Bool
    private let runner = Atomic<UInt>(0)
    private let state: Locked<State>

    /// Creates an exchange; `ticket` is nil when other code settles the message.
    init(
        for message: Message,
        ticket: consuming MessageTicket?,
        at handler: Handler?,
        to recipient: Recipient,
        core: BusCore
    ) {
        self.id = message.id
        self.url = message.parameters.url
        self.hops = message.hops
        self.expiry = message.expiry
        self.recipient = recipient
        self.returnPath = message.returnPath
        self.core = core
        self.isCounted = ticket != nil
        // A message without hops was not sent by a handler, so no handler waits for it. A message of a
        // middleware's attempt has no ticket.
        self.outer = message.hops > 0 || !self.isCounted ? DeliveryContext.waiting : nil
        self.state = Locked(State(of: message, ticket: ticket, handler: handler))
    }

    /// The number of the task that runs the handler, from ``CurrentTask``; 0 before the handler begins, and a
    /// number of no task after the handler has ended.
    var taskNumber: UInt { self.runner.load(ordering: .relaxed) }

    /// Records that the calling task is about to run the handler, and returns the handler's context.
    func beginRunning() -> DeliveryContext {
        self.runner.store(CurrentTask.id, ordering: .relaxed)
        return DeliveryContext(self)
    }

    func endRunning() { self.runner.store(CurrentTask.none, ordering: .relaxed) }

    /// Returns the result of the delivery for the caller.
    func result(_ outcome: Outcome) -> DeliveryResult {
        DeliveryResult(id: self.id, outcome: outcome, returnPath: self.returnPath)
    }

    /// Ends the exchange and resumes the caller, unless the exchange is already over.
    ///
    /// `handler` is nil when no handler produced the outcome.
    func finish(_ outcome: consuming Outcome, by handler: Handler? = nil) {
        var ticket: MessageTicket?
        guard let ending = self.state.withLock({ $0.finish(taking: &ticket) }) else {
            if let handler, outcome.isReply { self.core.countLateReply(at: handler) }
            return
        }
        // The outcome is final now, but the caller finds it only after `settle` has counted it and
        // `takeReader` has stored it.
        let outcome = outcome.at(ending.handler)
        // The value is nil if the handler has ended before it suspended or waited.
        let suspension = ending.suspension
        let shard = self.core.currentShard
        if let ticket = ticket.take() {
            // Count the outcome before the caller resumes, so that the statistics that the caller reads
            // include the outcome.
            self.core.settle(
                ticket,
                as: outcome,
                of: ending.message,
                for: self.recipient,
                at: ending.handler,
                isCountedInFlight: suspension?.isAttached == true,
                on: shard
            )
        }
        if let suspension { self.release(suspension, from: ending.handler, isReply: outcome.isReply) }
        // Nobody reads the outcome of a message that no caller awaits. A task that the handler has started
        // may retain the exchange, and must not retain the value of the reply.
        guard self.recipient.isAwaited else { return }
        let reader = self.state.withLock { $0.takeReader(orKeep: outcome) }
        reader?.resume(returning: .finished(outcome))
    }

    /// Releases the resources of an exchange that is over.
    @inline(never)
    private func release(_ suspension: State.Suspension, from handler: Handler?, isReply: Bool) {
        suspension.watch?.cancel()
        if suspension.isAttached { self.detach(from: handler) }
        // The message possibly enters the queue later. The queue then rejects the message, because it is
        // cancelled.
        suspension.queued?.cancel()
        if !isReply { suspension.task?.cancel() }
        for progress in suspension.unanswered { progress.answer.resume(returning: .failure(NotListening())) }
    }

    var isOver: Bool { self.state.withLock { $0.isOver } }

    /// Ends the exchange because its caller was cancelled.
    func cancel() { self.finish(.failed(.cancelled(url: self.url))) }

    /// Registers the exchange with the handler and counts the message as in flight, or returns false when the
    /// handler has been unregistered already.
    ///
    /// The handler ends the registered exchange when the handler is unregistered. The end of the exchange
    /// removes the waiting message `queued` from the mailbox. When no handler is found, the exchange is
    /// registered with the bus, which ends it at the shutdown.
    func attach(to handler: Handler?, _ queued: QueuedTask? = nil) -> Bool {
        guard handler?.attach(self) ?? self.attachWithoutHandler() else { return false }
        // The end of an attached exchange reduces the number of messages in flight, so count the message
        // first.
        handler?.counters.countInFlight()
        let isRecorded = self.state.withLock { state in
            state.record { suspension in
                suspension.isAttached = true
                suspension.queued = queued
            }
        }
        if !isRecorded {
            handler?.counters.uncountInFlight()
            self.detach(from: handler)
        }
        return true
    }

    private func attachWithoutHandler() -> Bool {
        self.core.withoutHandler.withLock { exchanges in
            exchanges?[self.id] = self
            return exchanges != nil
        }
    }

    private func detach(from handler: Handler?) {
        if let handler { return handler.detach(self) }
        _ = self.core.withoutHandler.withLock { $0?.removeValue(forKey: self.id) }
    }

    /// Records that the handler begins after the message has waited, or returns false when the exchange is
    /// over.
    func begin() -> Bool { self.state.withLock { $0.begin() } }

    /// Stores the handler's task, which the exchange cancels when the exchange ends without a reply.
    func bind(task: HandlerTask) {
        if !self.state.withLock({ $0.record { $0.task = task } }) { task.cancel() }
    }

    /// Ends the exchange when its deadline passes.
    ///
    /// The timer is on the loop of the calling thread, because the handler of an awaited message may block
    /// its own loop.
    func watchDeadline() {
        guard self.expiry.exists else { return }
        // A timer that outlives its loop moves to the timekeeper. The timer must not retain an exchange that
        // is over.
        let watch = DeadlineWatch(self.expiry, by: self.core.time, on: .current) { [weak self] in
            guard let self else { return }
            self.finish(.failed(.deadlineExceeded(url: self.url)))
        }
        if !self.state.withLock({ $0.record { $0.watch = watch } }) { watch.cancel() }
    }
}

// Progress replies, which the caller reads and answers.
extension Exchange {
    /// A progress reply, and the continuation that receives its answer.
    struct Progress: Sendable {
        let value: any Sendable
        /// The context of the handler.
        let context: DeliveryContext?
        /// Whether the handler uses the answer, and therefore also receives the listener's error.
        let expectsAnswer: Bool
        let answer: Answer
    }

    /// An event for the caller of an exchange.
    enum Event: Sendable {
        case progress(Progress)
        case finished(Outcome)
    }

    /// The error of a progress reply whose caller does not listen.
    struct NotListening: Error {}

    /// The continuation of a handler that waits for its caller's answer.
    typealias Answer = LoopContinuation<Result<any Sendable, any Error>>

    /// The continuation of a caller that waits for the next event.
    typealias Reader = LoopContinuation<Event>

    /// Waits for the next event of the handler: a progress reply or the end.
    ///
    /// A caller that is cancelled while it waits ends the exchange.
    nonisolated(nonsending) func nextEvent() async -> Event {
        // Most handlers have ended before the caller asks for the outcome.
        if let outcome = self.state.withLock({ $0.takeOutcome() }) { return .finished(outcome) }
        let reader = Reader(on: .current)
        return await reader.wait(isolation: #isolation) {
            let event = self.state.withLock { state in
                state.isRead ? .finished(.failed(.cancelled(url: self.url))) : state.takeEvent(orAdd: reader)
            }
            if let event { reader.resume(returning: event) }
        } onCancel: {
            self.cancel()
        }
    }

    /// Calls a listener for each progress reply with the isolation of the caller, answers with the listener's
    /// value or error, and returns the outcome.
    ///
    /// The outcome is the listener's first error when the handler replied but could not receive that error,
    /// because the handler did not use the answer.
    nonisolated(nonsending) func listen(_ listener: Listener) async -> Outcome {
        var untold: RoutingError?
        while true {
            switch await self.nextEvent() {
            case .finished(let outcome):
                if let untold, outcome.isReply { return .failed(untold) }
                return outcome
            case .progress(let progress):
                do {
                    // The handler waits for the listener, so messages of the listener belong to the context
                    // of the handler.
                    let answer = try await DeliveryContext.run(in: progress.context, isolation: #isolation) {
                        try await listener(progress.value)
                    }
                    self.answer(.success(answer))
                } catch {
                    if !(error is NotListening) {
                        let failure = RoutingError.progressRefused(error, url: self.url)
                        self.core.log(self.url, failure, as: "progress reply rejected")
                        if !progress.expectsAnswer { untold = untold ?? failure }
                    }
                    self.answer(.failure(error))
                }
            }
        }
    }

    /// Answers the latest progress reply, or returns false when the progress reply already has an answer or
    /// the exchange is over.
    ///
    /// If `answer` is not nil, returns false also when the caller has received a later progress reply than
    /// the progress reply with this continuation.
    @discardableResult
    func answer(_ result: Result<any Sendable, any Error>, to answer: Answer? = nil) -> Bool {
        guard let progress = self.state.withLock({ $0.answer(to: answer) }) else { return false }
        progress.answer.resume(returning: result)
        return true
    }

    /// Delivers a progress reply, waits for the answer, and throws the listener's error or ``NotListening``.
    nonisolated(nonsending) func offer(
        _ value: any Sendable,
        expectsAnswer: Bool
    ) async throws -> any Sendable {
        let answer = Answer(on: .current)
        let progress = Progress(value: value, context: .current, expectsAnswer: expectsAnswer, answer: answer)
        return try await answer.wait(isolation: #isolation) {
            // The caller must not receive a reply of an attempt that a middleware has already given up.
            if Task.isCancelled { throw NotListening() }
            switch self.state.withLock({ $0.offer(progress) }) {
            case .deliver(let reader, let event): reader.resume(returning: event)
            case .keep: break
            case .refuse: throw NotListening()
            }
            if Task.isCancelled { self.abandon(answer) }
        } onCancel: {
            self.abandon(answer)
        }.get()
    }

    /// Removes a progress reply that has not been answered, and resumes its handler with an error.
    private func abandon(_ answer: Answer) {
        guard self.state.withLock({ $0.abandon(answer) }) else { return }
        answer.resume(returning: .failure(NotListening()))
    }
}

internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// What happens between one caller and one handler that runs in a task of its own: progress replies, answers,
/// and the one outcome.
///
/// The first of these decides the outcome: the handler, the deadline, the caller's cancellation, or the end
/// of the handler's registration. The others find it decided. ``State`` decides what must happen; this class
/// does it, outside of the lock.
///
/// An exchange is also the context of what its handler sends, so that such a message allocates nothing else.
@usableFromInline
final class Exchange: Sendable {
    /// The ID of the message.
    let id: CorrelationID
    let url: String
    let hops: Int
    /// When the caller stops waiting.
    let expiry: Deadline
    let recipient: Recipient
    /// Where the reply's value goes, if it goes anywhere but to the caller.
    let returnPath: ReturnPath?
    let core: BusCore
    /// The context of the handler that waits for the reply, if a handler does.
    let caller: DeliveryContext?
    /// The message, if no caller awaits it: observers and return legs need all of it.
    private let sent: Message?
    private let runner = Atomic<UInt>(0)
    private let state: Locked<State>

    /// Creates the exchange of a message.
    ///
    /// - Parameters:
    ///   - ticket: The obligation to end the message, which the exchange takes over.
    ///   - request: What the caller asks for.
    ///   - handler: The handler of the message; nil when the message does not get that far.
    ///   - recipient: Who learns the outcome.
    ///   - returnPath: Where the reply's value goes beside its recipient.
    ///   - caller: The context of the handler that waits for the reply, if a handler does.
    ///   - core: The bus.
    init(
        _ ticket: consuming MessageTicket,
        for request: borrowing Request,
        at handler: Handler?,
        to recipient: Recipient,
        returnPath: ReturnPath? = nil,
        caller: DeliveryContext? = nil,
        core: BusCore
    ) {
        self.id = ticket.id
        self.url = request.url
        self.hops = request.hops
        self.expiry = request.expiry
        self.recipient = recipient
        self.returnPath = returnPath
        self.core = core
        self.caller = caller
        self.sent = nil
        self.state = Locked(State(ticket: ticket, handler: handler))
    }

    /// Creates the exchange of a message that no caller awaits.
    init(sending message: Message, _ ticket: consuming MessageTicket, to handler: Handler?, core: BusCore) {
        self.id = message.id
        self.url = message.parameters.url
        self.hops = message.hops
        self.expiry = message.expiry
        self.recipient = .nobody
        self.returnPath = nil
        self.core = core
        self.caller = nil
        self.sent = message
        self.state = Locked(State(ticket: ticket, handler: handler))
    }

    /// Creates the exchange of one attempt to deliver a message.
    ///
    /// The code that makes the attempt ends the message.
    init(attempting message: Message, caller: DeliveryContext?, core: BusCore) {
        self.id = message.id
        self.url = message.parameters.url
        self.hops = message.hops
        self.expiry = message.expiry
        self.sent = nil
        self.recipient = .caller
        self.returnPath = nil
        self.core = core
        self.caller = caller
        self.state = Locked(State(ticket: nil, handler: nil))
    }

    /// The task that runs the handler, as ``CurrentTask`` numbers it; 0 before that begins.
    var task: UInt { self.runner.load(ordering: .relaxed) }

    /// Returns the context of the handler, which the calling task is about to run.
    func context() -> DeliveryContext {
        self.runner.store(CurrentTask.id, ordering: .relaxed)
        return .exchange(self)
    }

    /// Ends the exchange without its handler, unless it has already ended.
    func finish(_ outcome: consuming Outcome) {
        if let sent { return self.finish(outcome, of: sent, by: nil) }
        self.finish(outcome, of: Request(url: self.url), by: nil)
    }

    /// Ends the exchange, unless it has already ended, and resumes the caller.
    ///
    /// - Parameters:
    ///   - outcome: How the message ended.
    ///   - content: The message, as far as it is known.
    ///   - handler: The handler whose outcome this is, if it is one.
    func finish(_ outcome: consuming Outcome, of content: some SettledContent, by handler: Handler?) {
        var ticket: MessageTicket?
        guard let ending = self.state.withLock({ $0.finish(taking: &ticket) }) else {
            if let handler, outcome.isReply { self.core.countLateReply(at: handler) }
            return
        }
        let outcome = outcome.at(ending.handler)
        let waiting = ending.waiting
        let shard = self.core.currentShard
        if let ticket = ticket.take() {
            // First, so that a caller that has the reply finds it in the statistics.
            self.core.settle(
                ticket,
                as: outcome,
                of: content,
                for: self.recipient,
                at: ending.handler,
                isInFlight: waiting?.isAttached == true,
                on: shard
            )
        }
        if let waiting { self.release(waiting, from: ending.handler, isReply: outcome.isReply) }
        let reader = self.state.withLock { $0.close(with: outcome) }
        reader?.resume(returning: .finished(outcome))
    }

    /// Releases what waited for the handler, or was kept for it.
    @inline(never)
    private func release(_ waiting: State.Waiting, from handler: Handler?, isReply: Bool) {
        waiting.watch?.cancel()
        if waiting.isAttached { handler?.detach(self) }
        waiting.queued?.withdraw()
        if !isReply { waiting.task?.cancel() }
        for progress in waiting.unanswered { progress.answer.resume(returning: .failure(NotListening())) }
    }

    /// Whether the exchange stands for a message in the statistics, and not for an attempt to deliver one.
    var isCounted: Bool { self.state.withLock { $0.isCounted } }

    /// Whether the outcome is decided.
    var isOver: Bool { self.state.withLock { $0.isOver } }

    /// Takes the outcome, if there is one that may be known.
    func takeOutcome() -> Outcome? { self.state.withLock { $0.takeOutcome() } }

    /// Ends the exchange because its caller was cancelled.
    func cancel() { self.finish(.failed(.cancelled(url: self.url))) }

    /// Registers the exchange with the handler, whose end then ends the exchange, and counts it as in flight.
    ///
    /// - Parameters:
    ///   - handler: The handler.
    ///   - queued: The message's place in the handler's mailbox, which it leaves when the exchange ends.
    /// - Returns: false when the handler has been unregistered already.
    func attach(to handler: Handler, _ queued: QueuedTask? = nil) -> Bool {
        guard handler.attach(self) else { return false }
        // The code that ends the exchange counts it as one that was in flight if it is attached by then.
        handler.counters.begin()
        if self.state.withLock({ $0.attach(queued) }) {
            handler.counters.forget()
            handler.detach(self)
        }
        return true
    }

    /// Notes that the handler begins, after its message has waited.
    ///
    /// - Returns: false when the exchange is over.
    func begin() -> Bool { self.state.withLock { $0.begin() } }

    /// Hands over the task that the end of the exchange cancels.
    func bind(task: HandlerTask) {
        if self.state.withLock({ $0.bind(task: task) }) { task.cancel() }
    }

    /// Ends the exchange when its deadline passes.
    ///
    /// - Parameters:
    ///   - deadline: The latest time for a reply.
    ///   - loop: The loop whose timer watches the deadline, for as long as that loop runs; nil when the caller
    ///     is on no loop of the bus.
    func expire(at deadline: Deadline, on loop: EventLoop?) {
        // A loop that stops hands its timers on: an exchange that is over must not be kept until the deadline.
        let watch = DeadlineWatch(deadline, by: self.core.time, on: loop) { [weak self] in
            guard let self else { return }
            self.finish(.failed(.deadlineExceeded(url: self.url)))
        }
        if self.state.withLock({ $0.bind(watch: watch) }) { watch.cancel() }
    }
}

// Progress replies, which the caller reads and answers.
extension Exchange {
    /// A progress reply, and where its answer goes.
    struct Progress: Sendable {
        let value: any Sendable
        /// What the handler is doing.
        let context: DeliveryContext?
        /// Whether the handler looks at the answer, and so at an error in its place.
        let expectsAnswer: Bool
        let answer: Answer
    }

    /// What a caller gets from an exchange.
    enum Event: Sendable {
        case progress(Progress)
        case finished(Outcome)
    }

    /// Thrown to a handler whose caller does not listen, or no longer.
    struct NotListening: Error {}

    /// A handler that waits for its caller's answer.
    typealias Answer = LoopContinuation<Result<any Sendable, any Error>>

    /// A caller that waits for the next event.
    typealias Reader = LoopContinuation<Event>

    /// Returns what comes next from the handler: a progress reply, or the end.
    ///
    /// A caller that is cancelled while it waits ends the exchange.
    nonisolated(nonsending) func next() async -> Event {
        // Most handlers have ended before the outcome is asked for.
        if let outcome = self.takeOutcome() { return .finished(outcome) }
        let reader = Reader(on: .current)
        return await reader.wait(isolation: #isolation) {
            let event = self.state.withLock { state in
                state.isRead ? .finished(.failed(.cancelled(url: self.url))) : state.read(reader)
            }
            if let event { reader.resume(returning: event) }
        } onCancel: {
            self.cancel()
        }
    }

    /// Lets a listener answer the progress replies, where the caller is isolated, until the exchange is over.
    ///
    /// - Returns: The outcome; a failure of the listener that was not thrown to the handler, if the handler
    ///   replied all the same.
    nonisolated(nonsending) func listen(_ listener: Listener) async -> Outcome {
        var untold: RoutingError?
        while true {
            switch await self.next() {
            case .finished(let outcome):
                if let untold, outcome.isReply { return .failed(untold) }
                return outcome
            case .progress(let progress):
                do {
                    // The handler continues when the listener does: what the listener sends belongs to the
                    // handler's message.
                    let answer = try await DeliveryContext.with(progress.context, isolation: #isolation) {
                        try await listener(progress.value)
                    }
                    self.answer(.success(answer))
                } catch {
                    if !(error is NotListening) {
                        let failure = RoutingError.progressRefused(error, url: self.url)
                        self.core.log(self.url, failure, as: "progress reply not taken")
                        if !progress.expectsAnswer { untold = untold ?? failure }
                    }
                    self.answer(.failure(error))
                }
            }
        }
    }

    /// Answers the progress reply that came last, unless the exchange is over.
    func answer(_ result: Result<any Sendable, any Error>) {
        self.state.withLock { $0.answer() }?.answer.resume(returning: result)
    }

    /// Answers one progress reply, if it is the one that came last and the exchange is not over.
    func answer(_ result: Result<any Sendable, any Error>, to number: Int) -> Bool {
        guard let progress = self.state.withLock({ $0.answer(to: number) }) else { return false }
        progress.answer.resume(returning: result)
        return true
    }

    /// Gives the caller a progress reply and waits for its answer.
    ///
    /// - Parameters:
    ///   - value: The reply's value.
    ///   - expectsAnswer: Whether the reason that there is no answer is thrown to the handler.
    /// - Returns: The answer.
    /// - Throws: What the listener throws, or ``NotListening``.
    nonisolated(nonsending) func offer(
        _ value: any Sendable,
        expectsAnswer: Bool
    ) async throws -> any Sendable {
        let answer = Answer(on: .current)
        let progress = Progress(
            value: value,
            context: .current,
            expectsAnswer: expectsAnswer,
            answer: answer
        )
        return try await answer.wait(isolation: #isolation) {
            switch self.state.withLock({ $0.offer(progress) }) {
            case .deliver(let reader, let event): reader.resume(returning: event)
            case .keep: break
            case .refuse: throw NotListening()
            }
            if Task.isCancelled { self.withdraw(answer) }
        } onCancel: {
            self.withdraw(answer)
        }.get()
    }

    /// Resumes a handler that no longer waits for an answer.
    private func withdraw(_ answer: Answer) {
        guard self.state.withLock({ $0.withdraw(answer) }) else { return }
        answer.resume(returning: .failure(NotListening()))
    }
}

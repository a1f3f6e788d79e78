internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// What happens between one caller and one handler that may suspend: progress replies, answers, and the one
/// outcome.
///
/// The first of these decides the outcome: the handler, the deadline, the caller's cancellation, or the end
/// of the handler's registration. The others find it decided. What must happen is decided by ``State``; this
/// class does it, outside the lock.
///
/// It is also the context of what its handler sends, so that such a message allocates nothing else.
@usableFromInline
final class Exchange: Sendable {
    /// The ID of the message.
    let id: CorrelationID
    let url: String
    let hops: Int
    /// When the caller stops waiting.
    let expiry: Deadline
    let origin: Origin
    /// Where the reply's value goes, if it goes anywhere but to the caller.
    let returnPath: ReturnPath?
    let core: BusCore
    /// The context of the handler that waits for the reply, if a handler does.
    let caller: DeliveryContext?
    private let runner = Atomic<UInt>(0)
    let state: Locked<State>
    /// Its neighbours in the list of its handler; guarded by that list's lock.
    @exclusivity(unchecked)
    nonisolated(unsafe) var links = WaitingExchanges.Links()
    /// What the handler's task takes when it begins, so that nothing in it is copied: left here before the
    /// task exists.
    @exclusivity(unchecked)
    nonisolated(unsafe) var delivery: SuspendingDelivery?

    init(
        _ id: CorrelationID,
        url: String,
        hops: Int = 0,
        expiry: Deadline = .never,
        core: BusCore,
        handler: Handler? = nil,
        _ origin: Origin = .routed,
        returnPath: ReturnPath? = nil,
        caller: DeliveryContext? = nil
    ) {
        self.id = id
        self.url = url
        self.hops = hops
        self.expiry = expiry
        self.origin = origin
        self.returnPath = returnPath
        self.core = core
        self.caller = caller
        self.state = Locked(State(handler: handler))
    }

    /// The task that runs the handler, as ``CurrentTask`` numbers it; 0 before that begins.
    var task: UInt { self.runner.load(ordering: .relaxed) }

    /// The context of the handler, which the calling task is about to run.
    func context() -> DeliveryContext {
        self.runner.store(CurrentTask.id, ordering: .relaxed)
        return .exchange(self)
    }

    /// Ends the exchange and counts its outcome, unless it has already ended.
    ///
    /// - Parameters:
    ///   - outcome: how it ends.
    ///   - handler: the handler whose reply this is, if it is one.
    func finish(_ outcome: consuming Outcome, by handler: Handler? = nil) {
        let isReply = outcome.isReply
        guard let effects = self.decide(by: handler, isReply: isReply) else { return }
        var rest: Outcome? = consume outcome
        self.end(taking: &rest, isReply: isReply, effects)
    }

    /// Ends the exchange as its handler did; the reply's value is sent to the return URL, if there is one.
    func finish(_ outcome: consuming Outcome, of message: Message, by handler: Handler) {
        let isReply = outcome.isReply
        var rest: Outcome? = consume outcome
        self.finish(taking: &rest, isReply: isReply, of: message, by: handler)
    }

    /// The same without a copy of the outcome, which would be made by its type; to ask it is to copy it as
    /// well.
    @inline(__always)
    func finish(
        taking outcome: inout Outcome?,
        isReply: Bool,
        of message: Message,
        by handler: Handler
    ) {
        guard let effects = self.decide(by: handler, isReply: isReply) else { return }
        // While the message still counts as in flight.
        if message.hasReturnURL { self.conclude(message, outcome) }
        self.end(taking: &outcome, isReply: isReply, effects)
    }

    @inline(never)
    private func conclude(_ message: Message, _ outcome: Outcome?) {
        guard self.origin.hasReturnLeg, case .replied(let value) = outcome else { return }
        self.core.conclude(message, value)
    }

    /// Decides that this is the end; nil if it has been decided already.
    @inline(__always)
    private func decide(by handler: Handler?, isReply: Bool) -> State.Effects? {
        if let effects = self.state.withLock({ $0.finish() }) { return effects }
        if isReply { self.core.countLateReply(at: handler) }
        return nil
    }

    /// Counts an outcome and makes it known; in this order, so that a caller that has the reply finds it in
    /// the statistics.
    private func end(taking outcome: inout Outcome?, isReply: Bool, _ effects: consuming State.Effects) {
        if isReply {
            self.countReply(effects)
        } else {
            self.countFailure(&outcome, effects)
        }
        self.close(taking: &outcome, isReply: isReply, effects)
    }

    /// Releases what waited for the handler, or was kept for it, and makes the outcome known.
    @inline(__always)
    private func close(taking outcome: inout Outcome?, isReply: Bool, _ effects: borrowing State.Effects) {
        if let waiting = effects.waiting { self.release(waiting, from: effects.handler, isReply: isReply) }
        if let reader = self.state.withLock({ $0.close(taking: &outcome) }), let outcome = outcome.take() {
            reader.resume(returning: .finished(outcome), releasing: effects.waiting)
        }
    }

    @inline(never)
    private func release(_ waiting: Waiting, from handler: Handler?, isReply: Bool) {
        // This call has ended the exchange: the state has let go of what waits.
        unsafe waiting.watch?.cancel()
        if unsafe waiting.isAttached { handler?.detach(self) }
        if unsafe waiting.isQueued { unsafe waiting.queued?.withdraw() }
        if !isReply { unsafe waiting.task?.cancel() }
        for progress in waiting.unanswered { progress.answer.resume(returning: .failure(NotListening())) }
    }

    /// Counts a reply, for the bus and for the route.
    @inline(__always)
    private func countReply(_ effects: State.Effects) {
        // One of several attempts to deliver a message is counted elsewhere.
        guard self.isCounted else { return }
        effects.handler?.counters.end(.replied, hasBegun: effects.wasAttached)
        self.core.close(.replied)
        if case .sent(let message) = self.origin { message.extras?.isReturnOf?.end(.delivered) }
    }

    /// Counts a failure, for the bus and for the route, and notes where it happened.
    @inline(never)
    private func countFailure(_ outcome: inout Outcome?, _ effects: State.Effects) {
        guard let failure = outcome?.at(effects.handler) else { return }
        outcome = failure
        let (handler, hasBegun) = (effects.handler, effects.wasAttached)
        switch self.origin {
        // One of several attempts to deliver a message is counted elsewhere.
        case .attempt: return
        case .sent(let message):
            self.core.endUnawaited(message, failure, at: handler, hasBegun: hasBegun)
        case .routed, .published:
            handler?.counters.end(failure.kind, hasBegun: hasBegun)
            self.core.close(failure, self.id, self.url, at: handler, self.unmatched)
        }
    }

    /// The message, with what its URL says.
    private var unmatched: Message? { self.core.unmatched(Request(url: self.url), id: self.id) }

    /// Whether it stands for a message in the statistics.
    var isCounted: Bool {
        if case .attempt = self.origin { return false }
        return true
    }

    /// Whether the outcome is decided.
    var isOver: Bool { self.state.withLock { $0.isOver } }

    /// Takes the outcome, if there is one that may be known.
    func takeOutcome() -> Outcome? { self.state.withLock { $0.takeOutcome() } }

    /// Ends the exchange because its caller was cancelled.
    func cancel() { self.finish(.failed(.cancelled(url: self.url))) }

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
    ///   - value: the reply's value.
    ///   - expectsAnswer: whether the reason that there is no answer is thrown to the handler.
    /// - Returns: the answer.
    /// - Throws: what the listener throws, or ``NotListening``.
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
    func withdraw(_ answer: Answer) {
        guard self.state.withLock({ $0.withdraw(answer) }) else { return }
        answer.resume(returning: .failure(NotListening()))
    }

    /// Has the exchange fail when its handler is unregistered.
    ///
    /// - Parameters:
    ///   - handler: the handler.
    ///   - queued: the message's place in the handler's mailbox, which it leaves when the exchange ends.
    /// - Returns: false if the handler has been unregistered already.
    func attach(to handler: Handler, _ queued: QueuedTask? = nil) -> Bool {
        guard handler.attach(self) else { return false }
        // The code that ends the exchange counts it for the handler, as one that was in flight if it is
        // attached by then.
        handler.counters.begin()
        if self.state.withLock({ $0.attach(queued) }) {
            handler.counters.forget()
            handler.detach(self)
        }
        return true
    }

    /// Notes that the handler begins, after its message has waited; false if the exchange is over.
    func begin() -> Bool { self.state.withLock { $0.begin() } }

    /// Hands over the task that the end of the exchange stops.
    func bind(task: HandlerTask) {
        if self.state.withLock({ $0.bind(task: task) }) { task.cancel() }
    }

    /// Hands over the timer of the deadline.
    func bind(watch: DeadlineWatch) {
        if self.state.withLock({ $0.bind(watch: watch) }) { watch.cancel() }
    }
}

extension Exchange {
    /// A progress reply, and where its answer goes.
    struct Progress: Sendable {
        let value: any Sendable
        /// What its handler is doing.
        let context: DeliveryContext?
        /// Whether its handler looks at the answer, and so at an error in its place.
        let expectsAnswer: Bool
        let answer: Answer
    }

    /// How the message came to the bus.
    enum Origin: Sendable {
        /// A caller awaits the reply.
        case routed
        /// A publisher waits until all subscribers are done; there is no single reply, and so no return leg.
        case published
        /// No caller awaits the outcome, and a failure makes the message a dead letter.
        case sent(Message)
        /// A middleware has set a deadline for what it calls; the message has an exchange of its own, or
        /// none.
        case attempt

        /// Whether the reply's value goes to the return URL.
        var hasReturnLeg: Bool {
            switch self {
            case .routed, .sent: true
            case .published, .attempt: false
            }
        }
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
}

extension Exchange {
    /// Ends the exchange when its deadline passes.
    ///
    /// - Parameters:
    ///   - deadline: the latest that a reply may come.
    ///   - loop: the loop whose timer watches it, for as long as that loop runs; nil if the caller is on no
    ///     loop of the bus.
    func expire(at deadline: Deadline, on loop: EventLoop?) {
        let watch = DeadlineWatch(deadline, by: self.core.time, on: loop) {
            self.finish(.failed(.deadlineExceeded(url: self.url)))
        }
        self.bind(watch: watch)
    }
}

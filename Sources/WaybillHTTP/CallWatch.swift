#if HTTP
internal import Hummingbird
internal import Synchronization
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The reply of a call.
struct CallReply: Sendable {
    let id: CorrelationID
    /// Nil for a handler that returns nothing.
    let json: [UInt8]?

    init(_ id: CorrelationID, _ value: any Sendable) throws(RoutingError) {
        self.id = id
        self.json = value is Void ? nil : try JSONWriter.encoded(value)
    }
}

/// How a call ended.
typealias CallOutcome = Result<CallReply, any Error>

/// Runs a call and cancels it when its client goes away.
///
/// Hummingbird sees a client go only while it reads what comes after the request, and a connection that has
/// been read like that is closed after the response. So a call that is over quickly is not watched, and its
/// connection is used again; one that waits for its loop has no handler yet that could be cancelled.
final class CallWatch: Sendable {
    /// What the caller waits for first: the end of the call, or of the time in which it is not watched (nil).
    private enum State {
        case running
        case awaited(CheckedContinuation<CallOutcome?, Never>)
        case over(CallOutcome?)
    }

    private let request: ExternalRequest
    private let bus: MessageBus
    private let grace: GracePeriods
    private let state = Locked(State.running)
    /// Whether the call has begun, or its caller has stopped waiting for that.
    private let isTaken = Atomic(false)

    /// Makes one for a call.
    ///
    /// - Parameters:
    ///   - request: what is called; it has a deadline.
    ///   - bus: what carries the call.
    ///   - grace: says for how long the call is not watched.
    init(_ request: ExternalRequest, on bus: MessageBus, _ grace: GracePeriods) {
        self.request = request
        self.bus = bus
        self.grace = grace
    }

    /// Runs the call.
    ///
    /// - Parameters:
    ///   - loop: where the call begins. Most handlers are on that loop and cannot suspend: such a one has
    ///     replied when the call leaves the loop, and took neither a task nor a timer of its own.
    ///   - http: tells whether the client is there.
    /// - Returns: how it ended, and whether it was watched, so that its connection is closed.
    func run(
        on loop: EventLoopTaskExecutor,
        for http: Request
    ) async -> (outcome: CallOutcome, isWatched: Bool) {
        // A task, since the caller does not wait for a loop that is busy. All of it runs on the loop, and what
        // ends there resumes the caller from there.
        let call = Task(executorPreference: loop) {
            let outcome = await self.outcome()
            self.end(with: outcome)
            return outcome
        }
        let period = self.grace.begin {
            guard self.isTaken.load(ordering: .acquiring) || self.request.isOverdue else { return false }
            self.end(with: nil)
            return true
        }
        return await withTaskCancellationHandler {
            let early = await self.firstEnd
            self.grace.end(period)
            if let early { return (early, false) }
            if self.take() { return (await self.outcomeBesideLoop(), false) }
            return (await self.watch(call, for: http), true)
        } onCancel: {
            call.cancel()
            if self.take() { self.end(with: .failure(RoutingError.cancelled(self.request))) }
        }
    }

    /// Whether the call had not begun, and its caller was waiting for that.
    private func take() -> Bool { !self.isTaken.exchange(true, ordering: .acquiringAndReleasing) }

    /// Calls on the loop, unless the caller has stopped waiting when the loop comes to it.
    private func outcome() async -> CallOutcome {
        guard self.take() else { return .failure(RoutingError.cancelled(self.request)) }
        do {
            switch try self.bus.begin(self.request) {
            case .replied(let value, let id): return .success(try CallReply(id, value))
            case .pending(let rest):
                let reply = try await self.bus.reply(of: rest, onReply: nil)
                return .success(try CallReply(reply.correlationID, reply.content))
            }
        } catch {
            return .failure(error)
        }
    }

    /// Calls from where the caller is, for a request that the loop was too busy for: the bus ends it.
    private func outcomeBesideLoop() async -> CallOutcome {
        do {
            let reply = try await self.bus.route(self.request)
            return .success(try CallReply(reply.correlationID, reply.content))
        } catch {
            return .failure(error)
        }
    }

    private func watch(_ call: Task<CallOutcome, Never>, for http: Request) async -> CallOutcome {
        do {
            return try await http.body.consumeWithCancellationOnInboundClose { _ in
                await withTaskCancellationHandler {
                    await call.value
                } onCancel: {
                    call.cancel()
                }
            }
        } catch {
            call.cancel()
            return await call.value
        }
    }

    /// Resumes the caller, unless something else has.
    private func end(with outcome: CallOutcome?) {
        let caller: CheckedContinuation<CallOutcome?, Never>? = self.state.withLock { state in
            switch state {
            case .running:
                state = .over(outcome)
                return nil
            case .awaited(let continuation):
                state = .over(outcome)
                return continuation
            case .over: return nil
            }
        }
        caller?.resume(returning: outcome)
    }

    /// What ended first; awaited once.
    private var firstEnd: CallOutcome? {
        get async {
            await withCheckedContinuation { continuation in
                let outcome: CallOutcome?? = self.state.withLock { state in
                    if case .over(let outcome) = state { return .some(outcome) }
                    state = .awaited(continuation)
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        }
    }
}

extension RoutingError {
    /// The error of a call whose client has gone before it began.
    fileprivate static func cancelled(_ request: ExternalRequest) -> Self {
        Self(.cancelled, url: request.url, message: "the client has closed the connection")
    }
}
#endif

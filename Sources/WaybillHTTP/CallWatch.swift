#if HTTP
internal import Hummingbird
internal import Synchronization
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

struct CallReply: Sendable {
    let id: CorrelationID
    /// The reply as JSON; nil if the handler returns no value.
    let json: [UInt8]?

    init(_ id: CorrelationID, _ value: any Sendable) throws(RoutingError) {
        self.id = id
        self.json = value is Void ? nil : try JSONWriter.encoded(value)
    }
}

typealias CallOutcome = Result<CallReply, any Error>

/// Runs a call, and cancels the call when its client disconnects.
///
/// Hummingbird detects a disconnection only while it reads the bytes after the request. After this reading,
/// the connection cannot be used for another request. A short call is therefore not watched, so that its
/// connection can be used again. If a loop is so busy that a call has not begun, the call is not watched
/// either, because the call does not have a handler to cancel.
final class CallWatch: Sendable {
    /// The state of the first event for which the caller waits.
    ///
    /// The event is the outcome of the call, or nil at the end of the unwatched period.
    private enum State {
        case running
        case awaited(CheckedContinuation<CallOutcome?, Never>)
        case over(CallOutcome?)
    }

    private let request: ExternalRequest
    private let bus: MessageBus
    private let grace: GracePeriods
    private let state = Locked(State.running)
    /// Whether the call has begun, or its caller no longer waits for its beginning.
    private let isTaken = Atomic(false)

    /// Creates a watch for one call, whose request has a deadline.
    init(_ request: ExternalRequest, on bus: MessageBus, _ grace: GracePeriods) {
        self.request = request
        self.bus = bus
        self.grace = grace
    }

    /// Runs the call, and returns its outcome and whether the call was watched.
    ///
    /// Most handlers run on `loop` and do not suspend. A call to such a handler ends before it leaves the
    /// loop, so the call needs neither a task nor a timer. After a watched call, the connection must be
    /// closed. If `http` is nil, the call is never watched.
    func run(
        on loop: EventLoopTaskExecutor,
        for http: Request?
    ) async -> (outcome: CallOutcome, isWatched: Bool) {
        // Use a separate task, so that the caller does not wait for a busy loop. The whole task runs on the
        // loop and resumes the caller from the loop.
        let call = Task(executorPreference: loop) {
            let outcome = await self.outcome()
            self.end(with: outcome)
            return outcome
        }
        let period = self.grace.begin {
            guard self.isTaken.load(ordering: .acquiring) || self.request.isOverdue(on: self.bus) else {
                return false
            }
            self.end(with: nil)
            return true
        }
        return await withTaskCancellationHandler {
            let early = await self.firstEnd
            self.grace.end(period)
            if let early { return (early, false) }
            if self.take() { return (await self.outcomeBesideLoop(), false) }
            guard let http else { return (await call.value, false) }
            return (await self.watch(call, for: http), true)
        } onCancel: {
            call.cancel()
            if self.take() { self.end(with: .failure(RoutingError.cancelled(self.request))) }
        }
    }

    /// Claims the call for the calling code, which must then run it or end it.
    ///
    /// - Returns: Whether the call had not been claimed before.
    private func take() -> Bool { !self.isTaken.exchange(true, ordering: .acquiringAndReleasing) }

    /// Runs the call on the loop, unless the caller no longer waits for its beginning.
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

    /// Runs the call on the executor of the caller, because the loop was too busy to begin the call.
    ///
    /// The bus enforces the deadline.
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

    /// Resumes the caller, unless it has been resumed already.
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

    /// The first event: an outcome, or nil at the end of the unwatched period.
    ///
    /// The property may be read once.
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
    /// Returns the error for a call whose client disconnected before the call began.
    fileprivate static func cancelled(_ request: ExternalRequest) -> Self {
        Self(.cancelled, url: request.url, message: "the client has closed the connection")
    }
}
#endif

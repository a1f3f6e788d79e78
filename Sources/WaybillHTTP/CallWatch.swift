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

/// Begins calls on a loop of the bus.
///
/// Most handlers are on that loop and cannot suspend: such a one has replied when the call leaves the loop,
/// and took neither a task nor a timer of its own.
actor CallDesk: LoopBound {
    nonisolated let eventLoop: EventLoop
    private let bus: MessageBus

    /// Makes a desk on a loop, from which requests reach a bus.
    init(_ bus: MessageBus, on eventLoop: EventLoop) {
        self.bus = bus
        self.eventLoop = eventLoop
    }

    /// Calls on the loop, unless the caller has stopped waiting when the loop comes to it.
    func reply(to request: ExternalRequest, _ turn: Turn) async -> CallOutcome {
        guard turn.take() else { return .failure(RoutingError.cancelled(request)) }
        do {
            switch try self.bus.begin(request) {
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
    nonisolated func replyBesideLoop(to request: ExternalRequest) async -> CallOutcome {
        do {
            let reply = try await self.bus.route(request)
            return .success(try CallReply(reply.correlationID, reply.content))
        } catch {
            return .failure(error)
        }
    }
}

/// What may be taken once: a call begins on its loop, or its caller stops waiting for that.
final class Turn: Sendable {
    private let isFree = Atomic(true)

    /// Whether it was free.
    func take() -> Bool { self.isFree.exchange(false, ordering: .acquiringAndReleasing) }

    var isTaken: Bool { !self.isFree.load(ordering: .acquiring) }
}

/// Runs a call and cancels it when its client goes away.
///
/// Hummingbird sees a client go only while it reads what comes after the request, and a connection that has
/// been read like that is closed after the response. So a call that is over quickly is not watched, and its
/// connection is used again; one that waits for its loop has no handler yet that could be cancelled.
struct CallWatch: Sendable {
    private let request: ExternalRequest
    private let desk: CallDesk
    private let grace: GracePeriods
    private let turn = Turn()
    private let first = Race()

    /// Makes one for a call.
    ///
    /// - Parameters:
    ///   - request: what is called; it has a deadline.
    ///   - desk: begins the call.
    ///   - grace: says for how long the call is not watched.
    init(_ request: ExternalRequest, _ desk: CallDesk, _ grace: GracePeriods) {
        self.request = request
        self.desk = desk
        self.grace = grace
    }

    /// Runs the call.
    ///
    /// - Returns: how it ended, and whether it was watched, so that its connection is closed.
    func run(for http: Request) async -> (outcome: CallOutcome, isWatched: Bool) {
        // A task, since the caller does not wait for a loop that is busy; it goes to the loop at once.
        let call = Task.immediate {
            let outcome = await self.desk.reply(to: self.request, self.turn)
            self.first.end(with: outcome)
            return outcome
        }
        let period = self.grace.begin {
            guard self.turn.isTaken || self.request.isOverdue else { return false }
            self.first.end(with: nil)
            return true
        }
        return await withTaskCancellationHandler {
            let early = await self.first.winner
            self.grace.end(period)
            if let early { return (early, false) }
            if self.turn.take() { return (await self.desk.replyBesideLoop(to: self.request), false) }
            return (await self.watch(call, for: http), true)
        } onCancel: {
            call.cancel()
            if self.turn.take() { self.first.end(with: .failure(RoutingError.cancelled(self.request))) }
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
}

extension RoutingError {
    /// The error of a call whose client has gone before it began.
    fileprivate static func cancelled(_ request: ExternalRequest) -> Self {
        Self(.cancelled, url: request.url, message: "the client has gone")
    }
}

/// The first of several ends of a call; the others are ignored.
///
/// Not generic: its release would look up the types of what it holds.
private final class Race: Sendable {
    private enum State {
        case running
        case awaited(CheckedContinuation<CallOutcome?, Never>)
        case over(CallOutcome?)
    }

    private let state = Locked(State.running)

    /// Ends the race, unless it has ended.
    func end(with value: CallOutcome?) {
        let waiting: CheckedContinuation<CallOutcome?, Never>? = self.state.withLock { state in
            switch state {
            case .running:
                state = .over(value)
                return nil
            case .awaited(let continuation):
                state = .over(value)
                return continuation
            case .over: return nil
            }
        }
        waiting?.resume(returning: value)
    }

    /// What ended the race; called once.
    var winner: CallOutcome? {
        get async {
            await withCheckedContinuation { continuation in
                let value: CallOutcome?? = self.state.withLock { state in
                    if case .over(let value) = state { return .some(value) }
                    state = .awaited(continuation)
                    return nil
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }
}
#endif

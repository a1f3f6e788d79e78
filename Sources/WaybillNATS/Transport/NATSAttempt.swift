#if NATS
internal import WaybillEventLoop
internal import WaybillRouting

/// An attempt to connect to one server, on its own thread.
///
/// libnats limits the time for the steps of an attempt, but not the time for the TLS handshake and for the
/// resolution of a name. The thread of the connection therefore waits only until ``dueAt``. A client that is
/// connected later is closed on the thread of the attempt, and has no effect on the connection.
final class NATSAttempt: Sendable {
    private enum State: Sendable {
        case connecting
        /// No thread waits for the result, but the attempt has not ended.
        case abandoned
        case ended(Result<NATSClient, RoutingError>)
    }

    /// The URL of the server.
    let server: String
    private let limit = MonotonicTime.now + NATSAttempt.patience
    private let state = Locked(State.connecting)

    /// The time limit of an attempt, in nanoseconds.
    ///
    /// The limit is twice the limit of libnats, so that libnats reports the failures that it detects.
    static let patience: Int64 = 4_000_000_000

    /// Starts an attempt, which wakes the thread of the poller up when it ends.
    init(
        to server: String,
        waking poller: NATSPoller,
        _ connect: @escaping @Sendable () throws(RoutingError) -> NATSClient
    ) {
        self.server = server
        LoopThread.start(name: "nats-connect") {
            self.end(with: Result(catching: connect))
            poller.wakeUp()
        }
    }

    /// The time at which to call ``takeResult()``, in nanoseconds.
    ///
    /// The value is zero when the attempt has ended, and the time limit before that.
    var dueAt: Int64 {
        self.state.withLock { state in
            if case .ended = state { 0 } else { self.limit }
        }
    }

    /// Whether the thread of the attempt is still connecting, although no other thread waits for the result.
    var isStalled: Bool {
        self.state.withLock { state in
            if case .abandoned = state { true } else { false }
        }
    }

    /// Ends the wait for the attempt, and returns its result.
    ///
    /// If the attempt has not ended, the result is a failure.
    func takeResult() -> Result<NATSClient, RoutingError> {
        self.state.withLock { state in
            if case .ended(let result) = state { return result }
            state = .abandoned
            return .failure(self.timeout)
        }
    }

    private func end(with result: Result<NATSClient, RoutingError>) {
        let isLate = self.state.withLock { state in
            if case .abandoned = state { return true }
            state = .ended(result)
            return false
        }
        guard isLate else { return }
        if case .success(let client) = result { client.close() }
        self.state.withLock { $0 = .ended(.failure(self.timeout)) }
    }

    fileprivate var timeout: RoutingError {
        RoutingError(
            .unreachable,
            message:
                "cannot connect to a NATS server: \(ServerURL(self.server)?.host ?? "the server") has not "
                + "completed the connection within \(Self.patience / 1_000_000_000) seconds; "
                + "check the server and the proxies before it"
        )
    }
}

/// The attempts that still have their threads, although no other thread waits for them.
struct StalledAttempts: Sendable {
    private var attempts: [NATSAttempt] = []

    /// Adds an attempt if it stalls, and removes the attempts that have ended.
    mutating func add(_ attempt: NATSAttempt) {
        self.attempts.append(attempt)
        self.attempts.removeAll { !$0.isStalled }
    }

    /// Returns the attempts to connect to a server that still stall, in their order.
    func attempts(to server: String) -> [NATSAttempt] {
        self.attempts.filter { $0.server == server && $0.isStalled }
    }
}

extension NATSAttempt {
    /// Connects to the first server that accepts the node, and blocks until then.
    ///
    /// A server is left out while an earlier attempt to connect to it stalls, because each attempt needs a
    /// thread. `stalled` receives the attempts that stall.
    ///
    /// - Throws: The error of a server that has refused the node, or else the error of the last server.
    static func connect(
        toAnyOf servers: [String],
        stalled: borrowing Locked<StalledAttempts>,
        waitingWith poller: NATSPoller,
        _ makeAttempt: (String) -> NATSAttempt
    ) throws(RoutingError) -> NATSClient {
        var failure = RoutingError(.unreachable, message: "there is no NATS server to connect to")
        for server in servers.shuffled() {
            if let earlier = stalled.withLock({ $0.attempts(to: server).first }) {
                if failure.code != .refused { failure = earlier.timeout }
                continue
            }
            let attempt = makeAttempt(server)
            repeat {
                // Take the signal before the check. The end of the attempt then always ends the wait.
                _ = poller.takeCall()
                _ = poller.wait(for: nil, milliseconds: MonotonicTime.milliseconds(until: attempt.dueAt))
            } while MonotonicTime.now < attempt.dueAt
            switch attempt.takeResult() {
            case .success(let client): return client
            case .failure(let error): if failure.code != .refused { failure = error }
            }
            stalled.withLock { $0.add(attempt) }
        }
        throw failure
    }
}
#endif

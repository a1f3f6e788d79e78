internal import WaybillEventLoop
internal import WaybillRouting

/// What a node has done for the subjects of its routes, as the services API of NATS asks.
final class EndpointTally: Sendable {
    /// Of one subject.
    struct Counts: Sendable {
        var requests = 0
        var errors = 0
        var lastError = ""
        var time = Duration.zero
    }

    private struct State {
        var current: String?
        var counts: [String: Counts] = [:]
    }

    private let state = Locked(State())

    /// Of all subjects that had requests.
    var counts: [String: Counts] { self.state.withLock { $0.counts } }

    /// Has the requests that a closure begins count for a subject.
    func count(for subject: String, _ body: () -> Void) {
        self.state.withLock { $0.current = subject }
        body()
        self.state.withLock { $0.current = nil }
    }

    /// A request begins.
    ///
    /// - Returns: The subject that it counts for, if it does.
    func begin() -> String? {
        self.state.withLock { state in
            if let subject = state.current { state.counts[subject, default: Counts()].requests += 1 }
            return state.current
        }
    }

    /// A request has been answered.
    func end(_ subject: String, after time: Duration, _ failure: String?) {
        self.state.withLock { state in
            state.counts[subject]?.time += time
            guard let failure else { return }
            state.counts[subject]?.errors += 1
            state.counts[subject]?.lastError = String(failure.prefix(200))
        }
    }
}

internal import WaybillEventLoop
internal import WaybillRouting

/// The request counts of a node's endpoints, as the NATS services API reports them.
final class EndpointTally: Sendable {
    /// The counts of one subject.
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

    /// The counts of every subject that has had requests.
    var counts: [String: Counts] { self.state.withLock { $0.counts } }

    /// Counts the requests that a closure begins for a subject.
    func count(for subject: String, _ body: () -> Void) {
        self.state.withLock { $0.current = subject }
        body()
        self.state.withLock { $0.current = nil }
    }

    /// Counts the beginning of a request for the subject of the enclosing ``count(for:_:)`` call.
    ///
    /// - Returns: The subject, or nil when the request is not counted.
    func begin() -> String? {
        self.state.withLock { state in
            if let subject = state.current { state.counts[subject, default: Counts()].requests += 1 }
            return state.current
        }
    }

    /// Records that a request was answered.
    func end(_ subject: String, after time: Duration, _ failure: String?) {
        self.state.withLock { state in
            state.counts[subject]?.time += time
            guard let failure else { return }
            state.counts[subject]?.errors += 1
            state.counts[subject]?.lastError = String(failure.prefix(200))
        }
    }
}

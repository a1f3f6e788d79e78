internal import WaybillEventLoop
internal import WaybillRouting

/// The request counts of a node's endpoints, for the NATS services API.
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

    /// The counts of each subject that has received requests.
    var counts: [String: Counts] { self.state.withLock { $0.counts } }

    /// Counts the requests for a subject that a closure begins.
    func count(for subject: String, _ body: () -> Void) {
        self.state.withLock { $0.current = subject }
        body()
        self.state.withLock { $0.current = nil }
    }

    /// Counts the beginning of a request for the subject of the ``count(for:_:)`` call that is running.
    ///
    /// - Returns: The subject, or nil when the request is not counted.
    func begin() -> String? {
        self.state.withLock { state in
            if let subject = state.current { state.counts[subject, default: Counts()].requests += 1 }
            return state.current
        }
    }

    /// Records that a request has been answered or has failed.
    func end(_ subject: String, after time: Duration, _ failure: String?) {
        self.state.withLock { state in
            state.counts[subject]?.time += time
            guard let failure else { return }
            state.counts[subject]?.errors += 1
            state.counts[subject]?.lastError = String(failure.prefix(200))
        }
    }
}

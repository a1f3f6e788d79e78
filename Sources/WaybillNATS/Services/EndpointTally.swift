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

    private let state = Locked<[String: Counts]>([:])

    /// The counts of each subject that has received requests.
    var counts: [String: Counts] { self.state.withLock { $0 } }

    /// Counts a request for a subject.
    func begin(_ subject: String) {
        self.state.withLock { $0[subject, default: Counts()].requests += 1 }
    }

    /// Records that a request has been answered or has failed.
    func end(_ subject: String, after time: Duration, failure: String?) {
        self.state.withLock { counts in
            counts[subject]?.time += time
            guard let failure else { return }
            counts[subject]?.errors += 1
            counts[subject]?.lastError = String(failure.prefix(200))
        }
    }
}

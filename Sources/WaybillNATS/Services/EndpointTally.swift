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

    /// The counts of each subject that the node serves.
    var counts: [String: Counts] { self.state.withLock { $0 } }

    /// Sets the subjects that the node serves, and forgets the counts of all other subjects.
    func serve(_ subjects: Set<String>) {
        self.state.withLock { counts in
            counts = Dictionary(uniqueKeysWithValues: subjects.map { ($0, counts[$0] ?? Counts()) })
        }
    }

    /// Counts a request for a subject, if the node still serves the subject.
    func begin(_ subject: String) {
        self.state.withLock { $0[subject]?.requests += 1 }
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

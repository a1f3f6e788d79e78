internal import Waybill
internal import WaybillEventLoop

/// What those who take part in a soak test saw with their own eyes, to compare with the books of the bus.
final class SoakBooks: Sendable {
    struct Counts: Sendable {
        /// Messages that were given to the bus by hand: not return legs, and not what a subscriber got.
        var given = 0
        var failed = 0
        var expired = 0
        var cancelled = 0
        /// Callers that went away and did not see the end.
        var left = 0
        /// What subscribers got, and what of that they refused.
        var heard = 0
        var refused = 0
        /// Handlers that have begun and not returned.
        var running = 0
    }

    private let state = Locked(Counts())

    var counts: Counts { self.state.withLock { $0 } }

    func note(_ change: @Sendable (inout Counts) -> Void) { self.state.withLock { change(&$0) } }

    /// Gives a message to the bus and notes how it ended, as far as that is a caller's to know.
    func call(_ body: () async throws -> Void) async {
        self.note { $0.given += 1 }
        do {
            try await body()
        } catch let error as RoutingError {
            self.note { counts in
                switch error.code {
                case .deadlineExceeded: counts.expired += 1
                case .cancelled: counts.cancelled += 1
                case .invalidURL, .noRoute, .noHandler, .mailboxFull, .hopLimitExceeded, .shutDown: break
                default: counts.failed += 1
                }
            }
        } catch {
            self.note { $0.failed += 1 }
        }
    }

    /// Runs a handler's code, which counts as running meanwhile.
    func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        self.note { $0.running += 1 }
        defer { self.note { $0.running -= 1 } }
        return try await body()
    }
}

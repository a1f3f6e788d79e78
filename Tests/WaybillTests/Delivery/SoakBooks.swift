internal import Waybill
internal import WaybillEventLoop

/// The counts of the participants in a soak test, to compare with the statistics of the bus.
final class SoakBooks: Sendable {
    struct Counts: Sendable {
        /// The number of messages of the test, without return legs and deliveries to subscribers.
        var given = 0
        var failed = 0
        var expired = 0
        var cancelled = 0
        /// The callers that stopped before the end of their message.
        var left = 0
        /// The number of messages that subscribers received, and how many of them they rejected.
        var heard = 0
        var refused = 0
        /// The handlers that have begun and not returned.
        var running = 0
    }

    private let state = Locked(Counts())

    var counts: Counts { self.state.withLock { $0 } }

    func note(_ change: @Sendable (inout Counts) -> Void) { self.state.withLock { change(&$0) } }

    /// Routes a message, and counts its outcome, as far as a caller can know it.
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

    /// Runs the code of a handler, which counts as running meanwhile.
    func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        self.note { $0.running += 1 }
        defer { self.note { $0.running -= 1 } }
        return try await body()
    }
}

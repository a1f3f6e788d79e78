internal import WaybillEventLoop

/// The limit on the requests of all clients that are not nodes of the cluster, counted together.
///
/// A client chooses the subject for its answers, and may choose another one for each request. A limit for
/// each subject would therefore not limit a client.
final class ClientBudget: Sendable {
    /// One request in flight.
    ///
    /// It is counted until this object is released.
    final class Charge: Sendable {
        private let budget: ClientBudget
        private let size: Int

        fileprivate init(_ budget: ClientBudget, _ size: Int) {
            self.budget = budget
            self.size = size
        }

        deinit { self.budget.end(self.size) }
    }

    private struct State {
        var count = 0
        var size = 0
        /// The bytes of each request in the message that is being received; nil if the sender is a node.
        var current: Int?
    }

    let countLimit: Int
    let sizeLimit: Int
    private let state = Locked(State())

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - countLimit: The maximum number of requests in flight.
    ///   - sizeLimit: The maximum number of bytes of their messages together.
    init(countLimit: Int, sizeLimit: Int) {
        self.countLimit = countLimit
        self.sizeLimit = sizeLimit
    }

    /// The number of requests in flight.
    var count: Int { self.state.withLock { $0.count } }

    /// Charges the requests that a closure begins.
    ///
    /// - Parameters:
    ///   - count: The number of requests in the message.
    ///   - size: The bytes of the message.
    ///   - receive: Begins the requests.
    /// - Returns: Whether the budget allowed the requests and the closure was called.
    func charge(_ count: Int, size: Int, _ receive: () -> Void) -> Bool {
        let hasRoom = self.state.withLock { state in
            guard state.count + count <= self.countLimit, state.size + size <= self.sizeLimit else {
                return false
            }
            state.current = size / max(1, count)
            return true
        }
        guard hasRoom else { return false }
        receive()
        self.state.withLock { $0.current = nil }
        return true
    }

    /// Begins a request and returns its charge, or nil if the sender is a node.
    func begin() -> Charge? {
        let size = self.state.withLock { state in
            guard let size = state.current else { return nil as Int? }
            state.count += 1
            state.size += size
            return size
        }
        return size.map { Charge(self, $0) }
    }

    private func end(_ size: Int) {
        self.state.withLock { state in
            state.count -= 1
            state.size -= size
        }
    }
}

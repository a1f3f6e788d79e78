internal import WaybillEventLoop

/// How much of a node its clients use that are not nodes of the cluster, all of them together.
///
/// A client chooses where its answers go, and may choose another subject for each request: a limit for each of
/// them would not limit anything.
final class ClientBudget: Sendable {
    /// One request that is being handled, for as long as this exists.
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

    /// Makes a budget.
    ///
    /// - Parameters:
    ///   - countLimit: the most requests.
    ///   - sizeLimit: the most bytes of their messages.
    init(countLimit: Int, sizeLimit: Int) {
        self.countLimit = countLimit
        self.sizeLimit = sizeLimit
    }

    /// How many requests there are.
    var count: Int { self.state.withLock { $0.count } }

    /// Has the requests that a closure begins charged.
    ///
    /// - Parameters:
    ///   - count: how many requests the message has.
    ///   - size: the bytes of the message.
    ///   - receive: begins the requests.
    /// - Returns: whether there was room for them, so that the closure was called.
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

    /// Begins a request; nil if the sender is a node.
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

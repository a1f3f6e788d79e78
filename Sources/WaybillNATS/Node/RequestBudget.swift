internal import WaybillEventLoop
internal import WaybillRouting

/// The limits on the unanswered requests and events of other nodes and of clients.
///
/// All nodes share one limit, and all clients that are not nodes share another limit. A client chooses the
/// subject for its answers, and may choose a different subject for each request. A client can also announce
/// any number of nodes. A limit for each sender would therefore not limit a client.
final class RequestBudget: Sendable {
    /// The senders that share a limit.
    enum Senders: String {
        case nodes = "the nodes of the cluster"
        case clients = "clients outside the cluster"
    }

    /// A number of requests, and of the bytes of their messages.
    struct Amount {
        let count: Int
        let size: Int
    }

    /// The part of a limit that one unanswered request uses.
    ///
    /// The request counts until this object is released.
    final class Charge: Sendable {
        private let budget: RequestBudget
        private let senders: Senders
        private let size: Int

        fileprivate init(_ budget: RequestBudget, _ senders: Senders, _ size: Int) {
            self.budget = budget
            self.senders = senders
            self.size = size
        }

        deinit { self.budget.add(-1, size: -self.size, to: self.senders) }
    }

    /// One amount for the nodes, and one amount for the clients.
    private struct Amounts {
        var nodes: Amount
        var clients: Amount

        subscript(_ senders: Senders) -> Amount {
            get { senders == .nodes ? self.nodes : self.clients }
            set { if senders == .nodes { self.nodes = newValue } else { self.clients = newValue } }
        }
    }

    private struct State {
        var used = Amounts(nodes: Amount(count: 0, size: 0), clients: Amount(count: 0, size: 0))
        /// The senders of the message that is being received, and the number of bytes to charge for each
        /// request.
        var current: (senders: Senders, size: Int)?
    }

    private let limits: Amounts
    private let state = Locked(State())

    init(nodes: Amount, clients: Amount) { self.limits = Amounts(nodes: nodes, clients: clients) }

    /// Returns the number of unanswered requests.
    func count(of senders: Senders) -> Int { self.state.withLock { $0.used[senders].count } }

    /// Applies a limit to the requests that a closure begins.
    ///
    /// - Parameters:
    ///   - count: The number of requests in the message.
    ///   - size: The number of bytes of the message.
    ///   - senders: The senders whose limit applies.
    ///   - receive: Begins the requests. Each request calls ``begin()``.
    /// - Returns: Whether the limit allowed the requests and the closure was called.
    func charge(_ count: Int, size: Int, to senders: Senders, _ receive: () -> Void) -> Bool {
        let limit = self.limits[senders]
        let hasRoom = self.state.withLock { state in
            let used = state.used[senders]
            guard used.count + count <= limit.count, used.size + size <= limit.size else { return false }
            state.current = (senders, size / max(1, count))
            return true
        }
        guard hasRoom else { return false }
        receive()
        self.state.withLock { $0.current = nil }
        return true
    }

    /// Charges a request of the message that is being received.
    ///
    /// - Returns: The charge; nil if no message is being received.
    func begin() -> Charge? {
        guard let (senders, size) = self.state.withLock({ $0.current }) else { return nil }
        self.add(1, size: size, to: senders)
        return Charge(self, senders, size)
    }

    private func add(_ count: Int, size: Int, to senders: Senders) {
        self.state.withLock { state in
            let used = state.used[senders]
            state.used[senders] = Amount(count: used.count + count, size: used.size + size)
        }
    }

    /// Returns the error for a request that exceeds a limit.
    func overflow(of senders: Senders, _ url: String = "") -> RoutingError {
        let limit = self.limits[senders]
        return RoutingError(
            .mailboxFull,
            url: url,
            message: "\(senders.rawValue) may have at most \(limit.count) requests in flight, with "
                + "\(limit.size) bytes together"
        )
    }
}

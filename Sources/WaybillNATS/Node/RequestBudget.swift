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

    /// The part of a limit that unanswered requests use as long as this value exists.
    struct Charge: ~Copyable, Sendable {
        private let budget: RequestBudget
        private let senders: Senders
        private let count: Int
        private let size: Int

        /// Counts a number of requests, by default one, with `size` bytes together.
        init(_ count: Int = 1, bytes size: Int, of senders: Senders, to budget: RequestBudget) {
            self.budget = budget
            self.senders = senders
            self.count = count
            self.size = size
            budget.add(count, size: size, to: senders)
        }

        deinit { self.budget.add(-self.count, size: -self.size, to: self.senders) }
    }

    /// The charge for the bytes of a batch, which the records of its requests share.
    final class BatchCharge: Sendable {
        private let charge: Charge

        init(bytes: Int, of senders: Senders, to budget: RequestBudget) {
            self.charge = Charge(0, bytes: bytes, of: senders, to: budget)
        }
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

    private let limits: Amounts
    private let used = Locked(
        Amounts(nodes: Amount(count: 0, size: 0), clients: Amount(count: 0, size: 0))
    )

    init(nodes: Amount, clients: Amount) { self.limits = Amounts(nodes: nodes, clients: clients) }

    /// Returns the number of unanswered requests.
    func count(of senders: Senders) -> Int { self.used.withLock { $0[senders].count } }

    /// Returns whether the requests of one message fit into a limit.
    ///
    /// The requests use nothing of the limit until each of them has a ``Charge``.
    func hasRoom(forRequests count: Int, size: Int, of senders: Senders) -> Bool {
        let (limit, used) = (self.limits[senders], self.used.withLock { $0[senders] })
        return used.count + count <= limit.count && used.size + size <= limit.size
    }

    private func add(_ count: Int, size: Int, to senders: Senders) {
        self.used.withLock { used in
            let amount = used[senders]
            used[senders] = Amount(count: amount.count + count, size: amount.size + size)
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

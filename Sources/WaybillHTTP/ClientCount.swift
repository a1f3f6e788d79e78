#if HTTP
internal import HTTPTypes
internal import Synchronization
internal import WaybillEventLoop

/// The number of open streams or running calls, in total and for each client, and the number of their bytes.
final class ClientCount: Sendable {
    private struct State {
        var count = 0
        var bytes = 0
        var clients: [String: Use] = [:]
    }

    private struct Use {
        var count = 0
        var bytes = 0
    }

    private let name: String
    private let limit: Int
    private let clientLimit: Int?
    private let byteLimit: Int
    private let allowsOneAlone: Bool
    private let state = Locked(State())

    /// Creates a count of things that errors call `name`, for example `event streams`.
    ///
    /// `limit` and `byteLimit` apply to all clients together, and one client may use half of the bytes. If
    /// `clientLimit` is nil, any number of things and bytes may belong to one client. `allowsOneAlone` states
    /// whether a thing may exceed the limit of bytes if it is the only one.
    init(
        of name: String,
        limit: Int,
        perClient clientLimit: Int?,
        byteLimit: Int = .max,
        allowsOneAlone: Bool = false
    ) {
        self.name = name
        self.limit = limit
        self.clientLimit = clientLimit
        self.byteLimit = byteLimit
        self.allowsOneAlone = allowsOneAlone
    }

    /// A stream or a call that counts until this object is released.
    final class Place: Sendable {
        private let owner: ClientCount
        private let client: String?
        private let bytes = Atomic(0)

        fileprivate init(_ owner: ClientCount, _ client: String?) {
            self.owner = owner
            self.client = client
        }

        deinit { self.owner.end(of: self.client, bytes: self.bytes.load(ordering: .relaxed)) }

        /// Sets the number of bytes that the stream or call keeps in memory.
        ///
        /// The method throws if the bytes of all clients exceed the limit, or the bytes of the client exceed
        /// half of the limit. The bytes of a client have no limit if the number of its things has none.
        func setBytes(_ bytes: Int) throws(Problem) {
            // A header can claim any length, and the sum of all lengths must not overflow.
            let bytes = min(bytes, 1 << 40)
            let before = self.bytes.exchange(bytes, ordering: .relaxed)
            try self.owner.add(bytes: bytes - before, of: self.client)
        }
    }

    /// Counts a new stream or call until the returned place is released.
    ///
    /// The address of the client is nil if it is unknown. The method throws if a limit has been reached.
    func take(for client: String?) throws(Problem) -> Place {
        let refusal: String? = self.state.withLock { state in
            if state.count >= self.limit { return "the server has too many \(self.name)" }
            if let client {
                let count = state.clients[client]?.count ?? 0
                if let clientLimit, count >= clientLimit { return "this client has too many \(self.name)" }
                state.clients[client, default: Use()].count += 1
            }
            state.count += 1
            return nil
        }
        if let refusal { throw Problem(.tooManyRequests, refusal) }
        return Place(self, client)
    }

    private func add(bytes: Int, of client: String?) throws(Problem) {
        let isOver = self.state.withLock { state in
            state.bytes += bytes
            if let client { state.clients[client]?.bytes += bytes }
            let use = client.flatMap { self.clientLimit == nil ? nil : state.clients[$0] } ?? Use()
            let isOver =
                state.bytes > self.byteLimit && !(self.allowsOneAlone && state.count == 1)
                || use.bytes > self.byteLimit / 2 && !(self.allowsOneAlone && use.count == 1)
            return bytes > 0 && isOver
        }
        if isOver { throw Problem(.tooManyRequests, "the \(self.name) of the server use too much memory") }
    }

    private func end(of client: String?, bytes: Int) {
        self.state.withLock { state in
            state.count -= 1
            state.bytes -= bytes
            guard let client, var use = state.clients[client] else { return }
            use.count -= 1
            use.bytes -= bytes
            state.clients[client] = use.count == 0 ? nil : use
        }
    }
}
#endif

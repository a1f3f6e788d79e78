#if HTTP
internal import HTTPTypes
internal import WaybillEventLoop

/// The number of open streams or running calls, in total and for each client.
final class ClientCount: Sendable {
    private struct State {
        var count = 0
        var clients: [String: Int] = [:]
    }

    private let name: String
    private let limit: Int
    private let clientLimit: Int?
    private let state = Locked(State())

    /// Creates a count.
    ///
    /// - Parameters:
    ///   - name: The name of the counted things in errors, for example `event streams`.
    ///   - limit: The maximum count of all clients together.
    ///   - clientLimit: The maximum count of one client; nil for no limit.
    init(of name: String, limit: Int, perClient clientLimit: Int?) {
        self.name = name
        self.limit = limit
        self.clientLimit = clientLimit
    }

    /// A stream or a call that counts until this object is released.
    final class Place: Sendable {
        private let owner: ClientCount
        private let client: String?

        fileprivate init(_ owner: ClientCount, _ client: String?) {
            self.owner = owner
            self.client = client
        }

        deinit { self.owner.end(of: self.client) }
    }

    /// Counts a new stream or call.
    ///
    /// - Parameter client: The address of the client; nil if the address is unknown.
    /// - Returns: The place, which counts until it is released.
    /// - Throws: The problem that a limit has been reached.
    func take(for client: String?) throws(Problem) -> Place {
        let refusal: String? = self.state.withLock { state in
            if state.count >= self.limit { return "the server has too many \(self.name)" }
            if let client {
                let count = state.clients[client, default: 0]
                if let clientLimit, count >= clientLimit { return "this client has too many \(self.name)" }
                state.clients[client] = count + 1
            }
            state.count += 1
            return nil
        }
        if let refusal { throw Problem(.tooManyRequests, refusal) }
        return Place(self, client)
    }

    private func end(of client: String?) {
        self.state.withLock { state in
            state.count -= 1
            guard let client, let count = state.clients[client] else { return }
            state.clients[client] = count == 1 ? nil : count - 1
        }
    }
}
#endif

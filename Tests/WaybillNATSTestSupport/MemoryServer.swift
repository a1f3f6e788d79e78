package import WaybillEventLoop
package import WaybillNATS
package import WaybillRouting

/// A message server in the memory of a test, with subjects, wildcards, queues, and the reply of NATS when a
/// subject has no subscriber.
package final class MemoryServer: Sendable {
    struct Subscription: Sendable {
        let client: Int
        let subject: String
        let queue: String?

        var isWild: Bool { self.subject.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: ">") } }
    }

    private struct State {
        /// The subscriptions without wildcards, by subject.
        var plain: [String: [Subscription]] = [:]
        /// The subscriptions with wildcards.
        var wild: [Subscription] = []
        var clients: [Int: MemoryTransport] = [:]
        var lastClient = 0
        /// The index of the next receiver of each queue.
        var turns: [String: Int] = [:]
        /// The clients whose messages are lost in both directions.
        var silenced: Set<Int> = []
        /// The clients with too many messages that wait to be sent.
        var full: Set<Int> = []
        var published = 0
        /// Called for each message, so that tests can observe it.
        var observer: (@Sendable (String, String?, [UInt8]) -> Void)?
    }

    private let state = Locked(State())
    package let payloadLimit: Int

    package init(payloadLimit: Int = 1 << 20) { self.payloadLimit = payloadLimit }

    package func transport() -> MemoryTransport { MemoryTransport(self) }

    /// The number of published messages.
    package var published: Int { self.state.withLock { $0.published } }

    package func observe(_ body: (@Sendable (String, String?, [UInt8]) -> Void)?) {
        self.state.withLock { $0.observer = body }
    }

    func add(_ client: MemoryTransport) -> Int {
        self.state.withLock { state in
            state.lastClient += 1
            state.clients[state.lastClient] = client
            return state.lastClient
        }
    }

    /// Ends a client like a process that dies: its subscriptions are removed, and it sends no more messages.
    package func remove(_ client: Int) {
        self.state.withLock { state in
            state.clients[client] = nil
            for subject in Array(state.plain.keys) {
                state.plain[subject]?.removeAll { $0.client == client }
            }
            state.wild.removeAll { $0.client == client }
        }
    }

    /// Drops all messages from and to a client without an error.
    package func silence(_ client: Int, _ isSilent: Bool) {
        self.state.withLock { state in
            if isSilent { state.silenced.insert(client) } else { state.silenced.remove(client) }
        }
    }

    /// Makes the connection of a client full, so that it rejects messages.
    package func fill(_ client: Int, _ isFull: Bool) {
        self.state.withLock { state in
            if isFull { state.full.insert(client) } else { state.full.remove(client) }
        }
    }

    func isFull(_ client: Int) -> Bool { self.state.withLock { $0.full.contains(client) } }

    func subscribe(_ subscription: Subscription) {
        self.state.withLock { state in
            if subscription.isWild {
                state.wild.append(subscription)
            } else {
                state.plain[subscription.subject, default: []].append(subscription)
            }
        }
    }

    func unsubscribe(_ client: Int, _ subject: String) {
        self.state.withLock { state in
            state.plain[subject]?.removeAll { $0.client == client }
            state.wild.removeAll { $0.client == client && $0.subject == subject }
        }
    }

    package func publish(
        _ subject: String,
        _ reply: String?,
        _ payload: [UInt8],
        headers: [(name: String, value: String)] = [],
        from client: Int
    ) {
        self.state.withLock { state in
            // Client 0 is the test itself.
            let isThere = client == 0 || state.clients[client] != nil
            guard isThere, !state.silenced.contains(client) else { return }
            state.published += 1
            var found: [Subscription] = []
            var queues: [String: [Subscription]] = [:]
            let wild = state.wild.filter { Self.matches($0.subject, subject) }
            for subscription in state.plain[subject, default: []] + wild where subscription.client != client {
                if let queue = subscription.queue {
                    queues["\(subscription.subject) \(queue)", default: []].append(subscription)
                } else {
                    found.append(subscription)
                }
            }
            for (queue, members) in queues {
                let turn = state.turns[queue, default: 0]
                state.turns[queue] = turn + 1
                found.append(members[turn % members.count])
            }
            let event = TransportEvent.message(
                TransportMessage(subject: subject, reply: reply, payload: payload, headers: headers)
            )
            state.observer?(subject, reply, payload)
            // Deliver under the lock, because a server has one order of messages and subscriptions.
            for taker in found where !state.silenced.contains(taker.client) {
                state.clients[taker.client]?.take(event)
            }
            if found.isEmpty, let reply {
                state.clients[client]?.take(.undelivered(reply: reply, reason: .noSubscriber))
            }
        }
    }

    /// Returns the number of subscriptions that receive the messages of a subject.
    package func subscribers(of subject: String) -> Int {
        self.state.withLock { state in
            state.plain[subject, default: []].count + state.wild.count { Self.matches($0.subject, subject) }
        }
    }

    /// Returns whether a subject with wildcards matches another subject.
    package static func matches(_ pattern: String, _ subject: String) -> Bool {
        var (left, right) = (pattern.utf8[...], subject.utf8[...])
        while !left.isEmpty, !right.isEmpty {
            let token = left.prefix { $0 != UInt8(ascii: ".") }
            if token.elementsEqual(">".utf8) { return true }
            let other = right.prefix { $0 != UInt8(ascii: ".") }
            guard token.elementsEqual("*".utf8) || token.elementsEqual(other) else { return false }
            let hasMore = (token.endIndex != left.endIndex, other.endIndex != right.endIndex)
            guard hasMore.0 == hasMore.1 else { return false }
            left = left[token.endIndex...].dropFirst()
            right = right[other.endIndex...].dropFirst()
        }
        return left.isEmpty && right.isEmpty
    }
}

/// A connection to a ``MemoryServer``.
package final class MemoryTransport: ClusterTransport {
    private let server: MemoryServer
    private struct Receiver {
        let loop: EventLoop
        let receive: @Sendable (TransportEvent) -> Bool
    }

    private let receiver = Locked<Receiver?>(nil)
    private let number = Locked(0)

    init(_ server: MemoryServer) { self.server = server }

    package var client: Int { self.number.withLock { $0 } }
    package var payloadLimit: Int { self.server.payloadLimit }

    package func open(
        on eventLoop: EventLoop,
        receive: @escaping @Sendable (TransportEvent) -> Bool
    ) async throws(RoutingError) {
        self.receiver.withLock { $0 = Receiver(loop: eventLoop, receive: receive) }
        let number = self.server.add(self)
        self.number.withLock { $0 = number }
    }

    /// Delivers an event as a server would.
    package func take(_ event: TransportEvent) {
        guard let receiver = self.receiver.withLock({ $0 }) else { return }
        receiver.loop.execute {
            var isDone = receiver.receive(event)
            while !isDone { isDone = receiver.receive(.remainder) }
        }
    }

    package func subscribe(_ subject: String, queue: String?) {
        self.server.subscribe(.init(client: self.client, subject: subject, queue: queue))
    }

    package func unsubscribe(_ subject: String) { self.server.unsubscribe(self.client, subject) }

    package func publish(
        _ subject: String,
        reply: ReplySubject?,
        _ payload: [UInt8],
        in envelope: MessageEnvelope?,
        headers: [(name: String, value: String)],
        as purpose: MessagePurpose
    ) -> Bool {
        // Like the ring of a connection, accept small messages that begin no request or publication.
        let isSmall = payload.count <= 8 << 10 && purpose != .request && purpose != .publication
        if self.server.isFull(self.client), !isSmall { return false }
        let payload = envelope?.with(payload) ?? payload
        self.server.publish(subject, reply?.text, payload, headers: headers, from: self.client)
        return true
    }

    package func flush() async {
        guard let loop = self.receiver.withLock({ $0?.loop }) else { return }
        // Earlier messages are in the loop's queue.
        await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
    }

    package func close() async { self.server.remove(self.client) }
}

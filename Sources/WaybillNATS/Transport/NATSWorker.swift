#if NATS
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// What the thread of a connection does: it performs what waits for it, writes that at once, reads what
/// comes, and connects again when the connection is lost.
///
/// It does so in the place of threads of libnats, which write each message by itself, and contend for one
/// lock. That a connection is lost ends it: libnats' own way to connect again keeps what its parser has read
/// of a message, and takes the first bytes of the next connection for the rest of it (3.4.1).
struct NATSWorker {
    private let commands: MessageRing<NATSCommand>
    private let events: NATSEvents
    private let socket: NATSSocket
    private let makeClient: ([String]) throws(RoutingError) -> NATSClient
    private var servers: ServerList
    /// Nil while there is no server.
    private var client: NATSClient?
    /// What is subscribed to, with the queue of each.
    private var subscriptions: [String: String?] = [:]
    private var liveness = Liveness(at: MonotonicTime.now)
    /// When to connect again.
    private var retryAt: Int64 = 0
    private var isClosed = false

    init(
        _ client: NATSClient,
        _ servers: ServerList,
        _ commands: MessageRing<NATSCommand>,
        _ events: NATSEvents,
        _ socket: NATSSocket,
        _ makeClient: @escaping ([String]) throws(RoutingError) -> NATSClient
    ) {
        self.client = client
        self.servers = servers
        self.commands = commands
        self.events = events
        self.socket = socket
        self.makeClient = makeClient
    }

    /// Works until the connection is closed.
    mutating func run(_ idlePolicy: IdlePolicy) {
        var workedAt = MonotonicTime.now
        // Whether there may be commands that no call tells of.
        var isBehind = true
        while true {
            if self.socket.takeCall() { isBehind = true }
            if isBehind, !self.socket.isWriteWanted {
                isBehind = self.performCommands()
                workedAt = MonotonicTime.now
            }
            if self.isClosed { return }
            // An answer to what was just read, or the next request of the caller, is about to come.
            let isLooking = MonotonicTime.now - workedAt < idlePolicy.nanoseconds
            let ready = self.socket.wait(isLooking ? 0 : self.timeLeft)
            if ready.canRead {
                self.client?.read()
                workedAt = MonotonicTime.now
            } else if isLooking {
                // The thread that is about to call may wait for this very core.
                sched_yield()
            }
            if ready.canWrite { self.client?.write() }
            self.look(hasRead: ready.canRead)
        }
    }

    /// Performs all commands, unless the socket does not take what they write: then they wait in the ring,
    /// which is bounded.
    ///
    /// - Returns: whether some may be left.
    private mutating func performCommands() -> Bool {
        while !self.socket.isWriteWanted {
            let commands = self.commands.takeAll()
            if commands.isEmpty { return false }
            for command in commands { self.perform(command) }
            if self.socket.isWriteWanted { self.client?.write() }
        }
        return true
    }

    private mutating func perform(_ command: NATSCommand) {
        switch command {
        case .publish(let message): self.publish(message)
        case .subscribe(let subject, let queue):
            self.subscriptions[subject] = .some(queue)
            self.client?.subscribe(subject, queue)
        case .unsubscribe(let subject):
            self.subscriptions[subject] = nil
            self.client?.unsubscribe(subject)
        case .flush(let body):
            let events = self.events
            guard let client = self.client else { return events.drain(then: body) }
            client.flush { events.drain(then: body) }
        case .close(let body): self.close(then: body)
        case .nothing: break
        }
    }

    private func publish(_ message: OutgoingMessage) {
        let objection =
            self.client.map { $0.publish(message.subject, message.reply, message.payload, message.headers) }
            ?? "there is no connection to a server"
        guard let objection, let reply = message.reply else { return }
        self.events.append(.undelivered(reply: reply, reason: .notSent(TransportMessage(message), objection)))
    }

    private mutating func close(then body: () -> Void) {
        if self.isClosed { return body() }
        self.isClosed = true
        let rest = self.commands.close()
        for command in rest { self.perform(command) }
        if self.socket.isWriteWanted { self.client?.write() }
        self.events.close()
        self.client?.close()
        self.client = nil
        body()
    }
}

// What becomes of the connection.
extension NATSWorker {
    /// How many milliseconds the thread may sleep.
    private var timeLeft: Int32 {
        let next = self.client == nil ? self.retryAt : self.liveness.nextCheck
        return Int32(clamping: max(1, (next - MonotonicTime.now) / 1_000_000 + 1))
    }

    private mutating func look(hasRead: Bool) {
        guard let client = self.client else {
            if MonotonicTime.now >= self.retryAt { self.connect() }
            return
        }
        guard self.socket.isAttached else { return self.lose(client, client.lastError) }
        switch self.liveness.check(at: MonotonicTime.now, hasRead: hasRead) {
        case .good: break
        case .unsure:
            client.ask()
            client.write()
        case .bad: self.lose(client, "the server does not answer")
        }
    }

    private mutating func lose(_ client: NATSClient, _ reason: String) {
        self.servers.add(client.discoveredServers)
        client.close()
        self.client = nil
        self.events.append(.disconnected(reason))
        self.retryLater()
    }

    private mutating func connect() {
        guard let client = try? self.makeClient(self.servers.all) else { return self.retryLater() }
        for (subject, queue) in self.subscriptions { client.subscribe(subject, queue) }
        client.write()
        self.client = client
        self.liveness = Liveness(at: MonotonicTime.now)
        self.events.append(.connected)
    }

    /// Nodes that have lost one server do not come back to it at once.
    private mutating func retryLater() {
        self.retryAt = MonotonicTime.now + .random(in: 100_000_000...150_000_000)
    }
}

/// What is known of a server by what comes from it, as a value that asks nothing itself.
struct Liveness {
    /// In nanoseconds.
    static let interval: Int64 = 1_000_000_000

    enum Answer {
        case good
        /// It should be asked: nothing was heard of it for a while, or it is time to.
        case unsure
        /// It was asked, and has said nothing since.
        case bad
    }

    private(set) var nextCheck: Int64
    private var isAsked = false

    init(at now: Int64) { self.nextCheck = now + Self.interval }

    mutating func check(at now: Int64, hasRead: Bool) -> Answer {
        if hasRead { self.isAsked = false }
        guard now >= self.nextCheck else { return .good }
        self.nextCheck = now + Self.interval
        if self.isAsked { return .bad }
        self.isAsked = true
        return .unsure
    }
}
#endif

#if NATS
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The work of a connection's thread: it performs commands, writes their bytes at once, reads, and reconnects
/// when the connection is lost.
///
/// It does the work of the threads of libnats, which would write each message separately and contend for one
/// lock. A lost connection is closed and replaced. When libnats reconnects by itself, its parser keeps the
/// part of a message that it has read, and takes the first bytes of the next connection for the rest of it
/// (3.4.1).
struct NATSWorker {
    private let commands: MessageRing<NATSCommand>
    private let spares: SpareBuffers
    private let events: NATSEvents
    private let socket: NATSSocket
    private let makeClient: ([String]) throws(RoutingError) -> NATSClient
    private var servers: ServerList
    /// The connected client; nil while the node is not connected.
    private var client: NATSClient?
    /// The subscribed subjects, each with its queue.
    private var subscriptions: [String: String?] = [:]
    /// Commands that were taken from the ring and wait until the socket is writable.
    private var rest: ArraySlice<NATSCommand> = []
    /// Whether the socket has not accepted all bytes of the last write.
    private var isFull = false
    private var liveness = Liveness(at: MonotonicTime.now)
    /// The servers that have not been tried since the connection was lost.
    private var untried: [String] = []
    /// The time of the next attempt, in nanoseconds.
    private var retryAt: Int64 = 0
    private var isRefused = false
    private var isClosed = false

    /// The number of unwritten bytes after which they are written.
    private static let writeSize = 1 << 18

    init(
        _ client: NATSClient,
        servers: ServerList,
        commands: MessageRing<NATSCommand>,
        spares: SpareBuffers,
        events: NATSEvents,
        socket: NATSSocket,
        _ makeClient: @escaping ([String]) throws(RoutingError) -> NATSClient
    ) {
        self.client = client
        self.servers = servers
        self.commands = commands
        self.spares = spares
        self.events = events
        self.socket = socket
        self.makeClient = makeClient
    }

    /// Runs until the connection is closed.
    mutating func run(_ idlePolicy: IdlePolicy) {
        var workedAt = MonotonicTime.now
        // Whether the ring may contain commands that no signal announces.
        var isBehind = true
        while true {
            if self.socket.takeCall() { isBehind = true }
            if isBehind, !self.socket.isWriteWanted {
                isBehind = self.performCommands()
                workedAt = MonotonicTime.now
            }
            if self.isClosed { return }
            // An answer to the last message, or the caller's next request, is likely to follow soon.
            let isLooking = MonotonicTime.now - workedAt < idlePolicy.nanoseconds
            let hasWork = isBehind && !self.socket.isWriteWanted
            let ready = self.socket.wait(isLooking || hasWork ? 0 : self.timeLeft)
            if ready.canRead {
                self.client?.read()
                workedAt = MonotonicTime.now
            } else if isLooking, !hasWork {
                // The thread that is about to send a signal may wait for this core.
                sched_yield()
            }
            // A full socket that becomes writable again proves that the server is alive. A socket that was
            // writable before proves nothing.
            let hasMoved = ready.canRead || ready.canWrite && self.isFull
            if ready.canWrite { self.write() }
            self.look(hasMoved: hasMoved)
        }
    }

    /// Performs commands until the socket does not accept their bytes.
    ///
    /// The remaining commands wait for the socket, and later ones in the bounded ring.
    ///
    /// - Returns: Whether commands may remain.
    private mutating func performCommands() -> Bool {
        if self.rest.isEmpty { self.rest = self.commands.takeAll()[...] }
        if self.rest.isEmpty { return false }
        var size = 0
        while let command = self.rest.popFirst() {
            size += command.size
            self.perform(command)
            guard size > Self.writeSize || self.rest.isEmpty else { continue }
            if self.socket.isWriteWanted { self.write() }
            if self.isFull { break }
            size = 0
        }
        return true
    }

    private mutating func write() {
        self.client?.write()
        self.isFull = self.socket.isWriteWanted
    }

    private mutating func perform(_ command: NATSCommand) {
        if let message = command.message { self.publish(message) }
        switch command.action {
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
        case nil: break
        }
    }

    private func publish(_ message: OutgoingMessage) {
        defer { self.spares.give(message.payload) }
        let reply = message.reply?.text
        let objection =
            self.client.map {
                $0.publish(message.subject, reply: reply, payload: message.payload, headers: message.headers)
            }
            ?? "there is no connection to a server"
        guard let objection, let reply else { return }
        let unsent = TransportMessage(
            subject: message.subject,
            reply: reply,
            payload: message.payload,
            headers: message.headers
        )
        self.events.append(.undelivered(reply: reply, reason: .notSent(unsent, objection)))
    }

    private mutating func close(then body: () -> Void) {
        if self.isClosed { return body() }
        self.isClosed = true
        for command in self.rest + self.commands.close() { self.perform(command) }
        self.rest = []
        let limit = MonotonicTime.now + Self.patience
        while let client = self.client, self.socket.isWriteWanted, MonotonicTime.now < limit {
            client.write()
            if self.socket.wait(10).canRead { client.read() }
        }
        self.events.close()
        self.endConnection()
        body()
    }

    /// The time limit for the last bytes to be written, in nanoseconds.
    private static let patience: Int64 = 1_000_000_000
}

// Loss and renewal of the connection.
extension NATSWorker {
    /// The number of milliseconds for which the thread may sleep.
    private var timeLeft: Int32 {
        let next = self.client == nil ? self.retryAt : self.liveness.nextCheck
        return Int32(clamping: max(1, (next - MonotonicTime.now) / 1_000_000 + 1))
    }

    private mutating func look(hasMoved: Bool) {
        guard let client = self.client else {
            if MonotonicTime.now >= self.retryAt { self.connect() }
            return
        }
        guard self.socket.isAttached else { return self.lose(client.lastError) }
        if self.liveness.isSilent(at: MonotonicTime.now, hasMoved: hasMoved) {
            self.lose("the server does not answer")
        }
    }

    private mutating func lose(_ reason: String) {
        self.servers.setDiscovered(self.client?.discoveredServers ?? [])
        self.endConnection()
        self.events.append(.disconnected(reason))
        self.retryLater()
    }

    private mutating func endConnection() {
        guard let client = self.client.take() else { return }
        self.socket.shutDown()
        // Read the remaining input up to its end, where libnats closes the socket.
        while self.socket.isAttached { client.read() }
        client.close()
    }

    /// Tries one server.
    ///
    /// The thread performs waiting commands before it tries the next one.
    private mutating func connect() {
        if self.untried.isEmpty { self.untried = self.servers.all.shuffled() }
        do {
            let client = try self.makeClient([self.untried.removeFirst()])
            // Commands from the time without a server fail, because their messages must not be sent late.
            while self.performCommands() {}
            self.client = client
            if self.isClosed { return self.endConnection() }
            self.isFull = false
            for (subject, queue) in self.subscriptions { client.subscribe(subject, queue) }
            self.untried = []
            self.isRefused = false
            self.liveness = Liveness(at: MonotonicTime.now)
            self.events.append(.connected)
        } catch {
            if error.code == .refused, !self.isRefused { self.events.append(.problem(error.message)) }
            self.isRefused = error.code == .refused
            self.retryLater()
        }
    }

    /// Schedules the next attempt to connect.
    ///
    /// The random part of the delay prevents all nodes of a failed server from connecting to the next one at
    /// once. A node that was rejected waits for two seconds.
    private mutating func retryLater() {
        let delay: Int64 = self.isRefused ? 2_000_000_000 : self.untried.isEmpty ? 100_000_000 : 0
        self.retryAt = MonotonicTime.now + delay + .random(in: 0...50_000_000)
    }
}

/// A detector for a silent server, as a value that sends nothing itself.
///
/// libnats sends a `PING` in each interval, and a live server answers it.
struct Liveness {
    /// The interval in nanoseconds.
    ///
    /// Three of them are shorter than the silence after which a node is treated as dead.
    static let interval: Int64 = 600_000_000

    private(set) var nextCheck: Int64
    private var hasMoved = true
    private var wasSilent = false

    init(at now: Int64) { self.nextCheck = now + Self.interval }

    /// Records whether bytes have moved, and returns whether none have moved for two intervals.
    ///
    /// In that case, the `PING` of the first interval has not been answered during the second.
    mutating func isSilent(at now: Int64, hasMoved: Bool) -> Bool {
        if hasMoved { self.hasMoved = true }
        guard now >= self.nextCheck else { return false }
        // A process that was suspended has not sent a `PING`.
        let isLate = now - self.nextCheck >= Self.interval
        let isSilent = !self.hasMoved && self.wasSilent && !isLate
        self.wasSilent = !self.hasMoved && !isLate
        self.hasMoved = false
        self.nextCheck = now + Self.interval
        return isSilent
    }
}
#endif

#if NATS
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The work of a connection's thread.
///
/// The worker performs commands, writes their bytes at once, reads, and reconnects when the connection is
/// lost. It replaces the threads with which libnats reads and writes the socket. Those threads would write
/// each message separately and contend for one lock. Libnats still delivers messages on its own thread.
///
/// When the connection is lost, the worker closes it and creates another one. It does not let libnats
/// reconnect, because the parser of libnats 3.4.1 then keeps the first part of an incomplete message. The
/// parser would treat the first bytes of the next connection as the other part of that message.
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
    /// Commands that were taken from the ring and wait until the socket is writable again.
    private var rest: ArraySlice<NATSCommand> = []
    /// Whether the socket did not accept all bytes of the last write.
    private var isFull = false
    private var liveness = Liveness(at: MonotonicTime.now)
    /// The servers that have not been tried since the connection was lost.
    private var untried: [String] = []
    /// The time of the next attempt, in nanoseconds.
    private var retryAt: Int64 = 0
    private var isRefused = false
    private var isClosed = false

    /// The number of bytes in memory at which the worker writes them to the socket.
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
        // Whether the ring possibly contains commands for which no signal will arrive.
        var isBehind = true
        while true {
            if self.socket.takeCall() { isBehind = true }
            if isBehind, !self.socket.isWriteWanted {
                isBehind = self.performCommands()
                workedAt = MonotonicTime.now
            }
            if self.isClosed { return }
            // An answer to the last message, or the next request of the caller, is likely to follow soon.
            let isLooking = MonotonicTime.now - workedAt < idlePolicy.nanoseconds
            let hasWork = isBehind && !self.socket.isWriteWanted
            let ready = self.socket.wait(isLooking || hasWork ? 0 : self.timeLeft)
            if ready.canRead {
                self.client?.read()
                workedAt = MonotonicTime.now
            } else if isLooking, !hasWork {
                // The thread that is about to send a signal is possibly waiting for this core.
                sched_yield()
            }
            // If a full socket becomes writable again, the server has read bytes and is alive. A socket that
            // was already writable proves nothing.
            let hasMoved = ready.canRead || ready.canWrite && self.isFull
            if ready.canWrite { self.write() }
            self.look(hasMoved: hasMoved)
        }
    }

    /// Performs commands until the socket does not accept their bytes, and returns whether more are possible.
    ///
    /// The other commands that were taken from the ring wait for the socket. Later commands wait in the ring,
    /// which has a limit.
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
        if let message = command.message {
            let objection = self.client.map { $0.publish(message) } ?? "there is no connection to a server"
            if let objection, let reply = message.reply?.text {
                let unsent = TransportMessage(
                    subject: message.subject,
                    reply: reply,
                    payload: message.payload,
                    headers: message.headers
                )
                self.events.append(.undelivered(reply: reply, reason: .notSent(unsent, objection)))
            }
            self.spares.give(message.payload)
        }
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

    /// The maximum time for writing the last bytes, in nanoseconds.
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
        // Read the remaining input. libnats closes the socket at the end of the input.
        while self.socket.isAttached { client.read() }
        client.close()
    }

    /// Tries to connect to one server.
    ///
    /// The thread performs waiting commands before it tries the next server.
    private mutating func connect() {
        if self.untried.isEmpty { self.untried = self.servers.all.shuffled() }
        do {
            let client = try self.makeClient([self.untried.removeFirst()])
            // Messages from the time without a server must not be sent late, so their commands fail now.
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
    /// A random part of the delay prevents all nodes of a failed server from connecting to the next server at
    /// the same time. A node that a server has rejected waits for two seconds.
    private mutating func retryLater() {
        let delay: Int64 = self.isRefused ? 2_000_000_000 : self.untried.isEmpty ? 100_000_000 : 0
        self.retryAt = MonotonicTime.now + delay + .random(in: 0...50_000_000)
    }
}

/// A detector for a server that does not answer.
///
/// This type is a value that sends nothing itself. libnats sends a `PING` in each interval, and a server that
/// is alive answers each `PING`.
struct Liveness {
    /// The length of an interval, in nanoseconds.
    ///
    /// Three intervals are shorter than the silence after which other nodes treat this node as dead.
    static let interval: Int64 = 600_000_000

    private(set) var nextCheck: Int64
    private var hasMoved = true
    private var wasSilent = false

    init(at now: Int64) { self.nextCheck = now + Self.interval }

    /// Records whether bytes were transferred, and returns whether the server is silent.
    ///
    /// The server is silent if no bytes were transferred during two intervals. In that case, the `PING` of
    /// the first interval has not been answered during the second interval.
    mutating func isSilent(at now: Int64, hasMoved: Bool) -> Bool {
        if hasMoved { self.hasMoved = true }
        guard now >= self.nextCheck else { return false }
        // After the process was suspended, silence means nothing, because no `PING` was sent.
        let isLate = now - self.nextCheck >= Self.interval
        let isSilent = !self.hasMoved && self.wasSilent && !isLate
        self.wasSilent = !self.hasMoved && !isLate
        self.hasMoved = false
        self.nextCheck = now + Self.interval
        return isSilent
    }
}
#endif

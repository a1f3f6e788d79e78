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
    private let spares: SpareBuffers
    private let events: NATSEvents
    private let socket: NATSSocket
    private let makeClient: ([String]) throws(RoutingError) -> NATSClient
    private var servers: ServerList
    /// Nil while there is no server.
    private var client: NATSClient?
    /// What is subscribed to, with the queue of each.
    private var subscriptions: [String: String?] = [:]
    /// What was taken out of the ring, and has to wait for the socket.
    private var rest: ArraySlice<NATSCommand> = []
    /// Whether the socket has not taken all that was written.
    private var isFull = false
    private var liveness = Liveness(at: MonotonicTime.now)
    /// The servers that have not been tried since the connection was lost, and when to try one.
    private var untried: [String] = []
    private var retryAt: Int64 = 0
    private var isRefused = false
    private var isClosed = false

    /// How many bytes wait to be written at most before they are.
    private static let writeSize = 1 << 18

    init(
        _ client: NATSClient,
        _ servers: ServerList,
        _ commands: MessageRing<NATSCommand>,
        _ spares: SpareBuffers,
        _ events: NATSEvents,
        _ socket: NATSSocket,
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
            let hasWork = isBehind && !self.socket.isWriteWanted
            let ready = self.socket.wait(isLooking || hasWork ? 0 : self.timeLeft)
            if ready.canRead {
                self.client?.read()
                workedAt = MonotonicTime.now
            } else if isLooking, !hasWork {
                // The thread that is about to call may wait for this very core.
                sched_yield()
            }
            // That the socket takes bytes again is a sign of life, that it takes them is none.
            let hasMoved = ready.canRead || ready.canWrite && self.isFull
            if ready.canWrite { self.write() }
            self.look(hasMoved: hasMoved)
        }
    }

    /// Performs the commands that wait, unless the socket does not take what they write: the others wait for
    /// it, and more of them in the ring, which is bounded.
    ///
    /// - Returns: whether some may be left.
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
            self.client.map { $0.publish(message.subject, reply, message.payload, message.headers) }
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

    /// How long what is written last may take, in nanoseconds.
    private static let patience: Int64 = 1_000_000_000
}

// What becomes of the connection.
extension NATSWorker {
    /// How many milliseconds the thread may sleep.
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
        // What has come is read, up to the end, at which libnats closes the socket.
        while self.socket.isAttached { client.read() }
        client.close()
    }

    /// Tries one server; the others have to wait for what is to be done meanwhile.
    private mutating func connect() {
        if self.untried.isEmpty { self.untried = self.servers.all.shuffled() }
        do {
            let client = try self.makeClient([self.untried.removeFirst()])
            // What was asked for while there was no server has failed: it must not be sent late.
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

    /// Nodes that have lost one server do not come to the next all at once, and one that is refused not all
    /// the time.
    private mutating func retryLater() {
        let delay: Int64 = self.isRefused ? 2_000_000_000 : self.untried.isEmpty ? 100_000_000 : 0
        self.retryAt = MonotonicTime.now + delay + .random(in: 0...50_000_000)
    }
}

/// Whether a server is silent, which answers a `PING` in each interval; a value that asks nothing itself.
struct Liveness {
    /// In nanoseconds; three of them are less than the time after which a node is lost that is not heard of.
    static let interval: Int64 = 600_000_000

    private(set) var nextCheck: Int64
    private var hasMoved = true
    private var wasSilent = false

    init(at now: Int64) { self.nextCheck = now + Self.interval }

    /// Notes whether bytes have moved, and says whether none have for two intervals: then what was asked in
    /// the first has not been answered in the second.
    mutating func isSilent(at now: Int64, hasMoved: Bool) -> Bool {
        if hasMoved { self.hasMoved = true }
        guard now >= self.nextCheck else { return false }
        // A process that stood still has asked nothing.
        let isLate = now - self.nextCheck >= Self.interval
        let isSilent = !self.hasMoved && self.wasSilent && !isLate
        self.wasSilent = !self.hasMoved && !isLate
        self.hasMoved = false
        self.nextCheck = now + Self.interval
        return isSilent
    }
}
#endif

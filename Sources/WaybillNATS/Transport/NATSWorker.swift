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
/// parser would treat the first bytes of the next connection as the other part of that message. The worker
/// does not wait for a connection either: each ``NATSAttempt`` has its own thread.
struct NATSWorker {
    private let commands: MessageRing<NATSCommand>
    private let spares: SpareBuffers
    private let events: NATSEvents
    private let poller: NATSPoller
    private let makeAttempt: (String) -> NATSAttempt
    private let noteConnected: (NATSClient) -> Void
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
    /// The attempt in progress; nil while the node is connected or waits for ``retryAt``.
    private var attempt: NATSAttempt?
    /// The servers that have not been tried since the connection was lost.
    private var untried: [String] = []
    /// The attempts that were abandoned at their time limits and have possibly not ended.
    private var stalled = StalledAttempts()
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
        poller: NATSPoller,
        makeAttempt: @escaping (String) -> NATSAttempt,
        noteConnected: @escaping (NATSClient) -> Void
    ) {
        self.client = client
        self.servers = servers
        self.commands = commands
        self.spares = spares
        self.events = events
        self.poller = poller
        self.makeAttempt = makeAttempt
        self.noteConnected = noteConnected
    }

    /// Runs until the connection is closed.
    mutating func run(_ idlePolicy: IdlePolicy) {
        var workedAt = MonotonicTime.now
        // Whether the ring possibly contains commands for which no signal will arrive.
        var isBehind = true
        while true {
            if self.poller.takeCall() { isBehind = true }
            if isBehind, !self.isWriteWanted {
                isBehind = self.performCommands()
                workedAt = MonotonicTime.now
            }
            if self.isClosed { return }
            // An answer to the last message, or the next request of the caller, is likely to follow soon.
            let isLooking = MonotonicTime.now - workedAt < idlePolicy.nanoseconds
            let hasWork = isBehind && !self.isWriteWanted
            let ready = self.poller.wait(
                for: self.client?.socket,
                milliseconds: isLooking || hasWork ? 0 : self.timeLeft
            )
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
            if self.isWriteWanted { self.write() }
            if self.isFull { break }
            size = 0
        }
        return true
    }

    private var isWriteWanted: Bool { self.client?.socket.isWriteWanted ?? false }

    private mutating func write() {
        self.client?.write()
        self.isFull = self.isWriteWanted
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
        while let client = self.client, client.socket.isWriteWanted, MonotonicTime.now < limit {
            client.write()
            if self.poller.wait(for: client.socket, milliseconds: 10).canRead { client.read() }
        }
        self.events.close()
        // If an attempt has just succeeded, its client is closed here. The thread of the attempt closes a
        // client that is connected later.
        if case .success(let client)? = self.attempt.take()?.takeResult() { self.client = client }
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
        MonotonicTime.milliseconds(until: self.client == nil ? self.connectAt : self.liveness.nextCheck)
    }

    /// The time of the next step towards a connection, in nanoseconds.
    private var connectAt: Int64 { self.attempt?.dueAt ?? self.retryAt }

    private mutating func look(hasMoved: Bool) {
        guard let client = self.client else {
            guard MonotonicTime.now >= self.connectAt else { return }
            return self.attempt == nil ? self.startAttempt() : self.endAttempt()
        }
        guard client.socket.isAttached else { return self.lose(client.lastError) }
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
        self.isFull = false
        client.socket.shutDown()
        // Read the remaining input. libnats closes the socket at the end of the input.
        while client.socket.isAttached { client.read() }
        client.close()
    }

    /// Starts an attempt to connect to a server that has not been tried.
    private mutating func startAttempt() {
        if self.untried.isEmpty { self.untried = self.servers.all.filter { self.mayTry($0) }.shuffled() }
        guard let server = self.untried.popLast() else { return self.retryLater() }
        self.attempt = self.makeAttempt(server)
    }

    /// Returns whether enough time has passed since the attempts to connect to a server have stalled.
    ///
    /// libnats cannot end a stalled attempt, so the attempt keeps its thread. The pause grows with each
    /// stalled attempt. A server that stalls for a day costs some two hundred threads, and not twenty
    /// thousand.
    private func mayTry(_ server: String) -> Bool {
        let attempts = self.stalled.attempts(to: server)
        guard let last = attempts.last else { return true }
        return MonotonicTime.now >= last.dueAt + NATSAttempt.patience * Int64(attempts.count)
    }

    private mutating func endAttempt() {
        // Messages from the time without a server must not be sent late, so their commands fail now.
        while self.performCommands() {}
        // If a command has closed the connection, the attempt is over.
        guard let attempt = self.attempt.take() else { return }
        switch attempt.takeResult() {
        case .success(let client): self.begin(client)
        case .failure(let error):
            self.stalled.add(attempt)
            if error.code == .refused, !self.isRefused { self.events.append(.problem(error.message)) }
            self.isRefused = error.code == .refused
            self.retryLater()
        }
    }

    private mutating func begin(_ client: NATSClient) {
        self.client = client
        self.noteConnected(client)
        for (subject, queue) in self.subscriptions { client.subscribe(subject, queue) }
        self.untried = []
        self.isRefused = false
        self.liveness = Liveness(at: MonotonicTime.now)
        self.events.append(.connected)
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

extension MonotonicTime {
    /// Returns the number of milliseconds until a time, rounded up, and at least one.
    static func milliseconds(until time: Int64) -> Int32 {
        Int32(clamping: max(1, (time - self.now) / 1_000_000 + 1))
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

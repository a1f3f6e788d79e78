internal import Waybill
internal import WaybillEventLoop

/// The resources that the connections of a server share.
///
/// The resources are permissions to run calls (*places*, see ``CallTurns``), memory for received and for
/// unread bytes, and subscriptions. The actor runs on the loop of the server, and so do all sessions.
actor ServerLoad: LoopBound {
    nonisolated let eventLoop: EventLoop
    private let limits: RPCServer.Limits
    private var turns: CallTurns<Int>
    private var sessions: [Int: RPCSession] = [:]
    private var lastNumber = 0
    /// The connections that have a place for a waiting call and have not begun the call yet.
    private var due: [Int] = []
    private var isStarting = false
    /// The messages without a response that closed connections have left, and that wait for their turns.
    private var left = WaitingCalls()
    /// Whether the server shuts down, so that no message waits for its turn any more.
    private var isDraining = false
    /// The unread bytes of each connection at the time of its last answer.
    ///
    /// A connection without unread bytes has no entry.
    private var unread: [Int: Int] = [:]
    private var unreadOfAll = 0
    /// The time at which the unread bytes of all connections were last counted.
    private var countedAt: ContinuousClock.Instant?
    /// The size of the received messages that all connections keep in memory, in bytes.
    private var receivedBytes = 0
    private var subscriptions = 0
    /// The memory of the messages that wait for all subscriptions.
    nonisolated let subscriptionMemory: SubscriptionMemory

    /// The number that all closed connections have together.
    private static let closed = 0

    init(_ limits: RPCServer.Limits, on eventLoop: EventLoop) {
        self.eventLoop = eventLoop
        self.limits = limits
        self.subscriptionMemory = SubscriptionMemory(limit: limits.subscriptionBytesOfAll)
        self.turns = CallTurns(guaranteed: limits.guaranteedCalls, shared: limits.sharedCalls)
    }

    /// Adds a connection, and returns its number.
    func open(_ session: RPCSession) -> Int {
        self.lastNumber += 1
        self.sessions[self.lastNumber] = session
        return self.lastNumber
    }

    /// Removes a connection and its bytes and subscriptions.
    ///
    /// The running calls keep their places until they end. All closed connections together have the guaranteed
    /// places of one connection, and otherwise use shared places. If the shared places do not suffice, the
    /// calls use the places of connections (``connectionsInUse``), so that a peer cannot get any number of
    /// places by connecting again.
    func close(
        _ number: Int,
        subscriptions: Int,
        leaving messages: [WaitingCalls.Call],
        of session: RPCSession
    ) {
        guard self.sessions.removeValue(forKey: number) != nil else { return }
        self.subscriptions -= subscriptions
        self.setUnread(0, of: number)
        self.start(self.turns.close(number, movingCallsTo: Self.closed))
        for var message in messages {
            message.session = session
            if self.isDraining {
                self.handle(message)
            } else if self.turns.ask(Self.closed) {
                self.handleWithPlace(message)
            } else {
                self.left.append(message)
                self.receivedBytes += message.bytes
            }
        }
    }

    /// The number of connections that the server must not accept, because calls of closed connections use
    /// their places.
    var connectionsInUse: Int { self.turns.connectionsInUse }

    /// Begins all messages that wait, because the server shuts down.
    func drain() {
        self.isDraining = true
        while let message = self.takeLeftMessage() {
            self.turns.withdraw(Self.closed)
            self.handle(message)
        }
    }

    private func takeLeftMessage() -> WaitingCalls.Call? {
        let message = self.left.popFirst()
        self.receivedBytes -= message?.bytes ?? 0
        return message
    }

    /// Begins to handle a message of a closed connection, which has a place.
    private func handleWithPlace(_ message: WaitingCalls.Call) {
        self.handle(message, ExternalWork { self.endOnAnyThread(Self.closed) })
    }

    private func handle(_ message: WaitingCalls.Call, _ work: ExternalWork = ExternalWork {}) {
        message.session?.assumeOnLoop { $0.startWork(nil, work, message.start) }
    }
}

// Running and waiting calls.
extension ServerLoad {
    /// Asks for permission to run a call of a connection.
    ///
    /// - Returns: Whether the call may run now. Otherwise the load calls
    ///   ``ServedConnection/startWaiting(_:)`` when the call may run.
    func ask(_ number: Int) -> Bool { self.turns.ask(number) }

    /// Makes the session of a connection begin a waiting call that has a place.
    func startWaitingCall(of number: Int) { self.start([number]) }

    /// Ends a running call.
    func end(_ number: Int) {
        self.start(self.turns.end(self.sessions[number] == nil ? Self.closed : number))
    }

    /// Ends a running call, whose handler is possibly on another loop than the server.
    nonisolated func endOnAnyThread(_ number: Int) {
        if self.eventLoop.isInEventLoop {
            self.assumeOnLoop { $0.end(number) }
        } else {
            self.eventLoop.execute { self.assumeOnLoop { $0.end(number) } }
        }
    }

    /// Whether the number of waiting calls exceeds the limit of the server.
    var isCrowded: Bool { self.turns.waiting > self.limits.waitingCallsOfAll }

    /// Removes a waiting call.
    func withdraw(_ number: Int) { self.turns.withdraw(number) }

    private func start(_ numbers: [Int]) {
        self.due += numbers
        guard !self.isStarting, !self.due.isEmpty else { return }
        self.isStarting = true
        // Use a separate task, to avoid recursion. A call that ends at once frees its place for the next
        // call, which may also end at once.
        Task { await self.startDue() }
    }

    private func startDue() async {
        while !self.due.isEmpty {
            let numbers = self.due
            self.due = []
            for number in numbers {
                if let session = self.sessions[number] {
                    session.assumeOnLoop { $0.connection?.startWaiting($0) }
                } else if number == Self.closed, let message = self.takeLeftMessage() {
                    self.handleWithPlace(message)
                } else {
                    // The connection was closed after its call had got a place.
                    self.end(number)
                }
                await EventLoop.yieldIfDue()
            }
        }
        self.isStarting = false
    }
}

// Memory for received messages.
extension ServerLoad {
    /// Adds a number of bytes, possibly negative, that a connection keeps in memory.
    func add(received bytes: Int) { self.receivedBytes += bytes }

    /// Returns whether the limit of the server allows a further number of received bytes.
    func hasRoom(forReceived bytes: Int) -> Bool {
        self.receivedBytes + bytes <= self.limits.requestBytesOfAll
    }
}

// Memory for unread bytes.
extension ServerLoad {
    /// Records the number of bytes that a peer has not read.
    ///
    /// When all peers together exceed the limit, the method closes connections.
    func note(unread bytes: Int, of number: Int) {
        self.setUnread(bytes, of: number)
        guard self.unreadOfAll > self.limits.unreadBytesOfAll else { return }
        // Peers have possibly read bytes since their last answers, so count the unread bytes of all
        // connections again. Because this takes time, do it only every 50 milliseconds.
        let now = self.eventLoop.time.instant
        if let last = self.countedAt, now - last < .milliseconds(50) { return }
        self.countedAt = now
        for number in Array(self.unread.keys) {
            let bytes = self.sessions[number]?.assumeOnLoop { $0.connection?.unreadBytes(of: $0) }
            self.setUnread(bytes ?? 0, of: number)
        }
        if self.unreadOfAll > self.limits.unreadBytesOfAll { self.cutOff(at: now) }
    }

    /// Closes connections until a quarter of the limit is free, beginning with peers that read nothing.
    private func cutOff(at now: ContinuousClock.Instant) {
        let connections = self.unread.map { number, bytes in
            (number: number, bytes: bytes, isStalled: self.isStalled(number, at: now))
        }
        let worstFirst = connections.sorted {
            $0.isStalled != $1.isStalled ? $0.isStalled : $0.bytes > $1.bytes
        }
        for connection in worstFirst where self.unreadOfAll > self.limits.unreadBytesOfAll / 4 * 3 {
            self.setUnread(0, of: connection.number)
            self.sessions[connection.number]?.assumeOnLoop {
                $0.connection?.end("the peer has not read \(connection.bytes) bytes", in: $0)
            }
        }
    }

    /// Returns whether a peer has read nothing for at least a second.
    private func isStalled(_ number: Int, at now: ContinuousClock.Instant) -> Bool {
        let since = self.sessions[number]?.assumeOnLoop { $0.connection?.channel.stalledSince(at: now) }
        return since.map { now - $0 >= .seconds(1) } ?? false
    }

    private func setUnread(_ bytes: Int, of number: Int) {
        let bytes = self.sessions[number] == nil ? 0 : bytes
        self.unreadOfAll += bytes - (self.unread[number] ?? 0)
        self.unread[number] = bytes == 0 ? nil : bytes
    }
}

// Subscriptions.
extension ServerLoad {
    /// Adds a subscription, or returns false when the server's limit is reached.
    func addSubscription() -> Bool {
        guard self.subscriptions < self.limits.subscriptionsOfAll else { return false }
        self.subscriptions += 1
        return true
    }

    func removeSubscription() { self.subscriptions -= 1 }
}

#if NATS
internal import CNATS
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// One connection of libnats, and the thread that calls it.
///
/// libnats holds a connection's lock while it connects again, for seconds at times, so no loop of a bus calls
/// it: what is to be done waits in a ring for a thread of its own, and what comes waits in another one for
/// the loop. Messages are delivered by one thread of libnats for all subscriptions, so their order holds.
final class NATSConnection: ClusterTransport {
    private enum Command: Sendable {
        case publish(OutgoingMessage)
        case subscribe(String, queue: String?)
        case unsubscribe(String)
        case run(@Sendable (borrowing NATSClient) -> Void)
        /// What another one was taken out of, while it is changed.
        case nothing

        /// Has a message go out with this one, if it can.
        mutating func take(_ next: OutgoingMessage, limit: Int) -> Bool {
            guard case .publish(var message) = self, message.takes(next, limit: limit) else { return false }
            // Or its bytes would be copied.
            self = .nothing
            message.take(next)
            self = .publish(message)
            return true
        }
    }

    private let servers: [String]
    private let security: NATSTransport.Security
    /// Which messages may go out as one.
    private let subjects: Subjects
    private let thread: EventLoop
    /// Whether the thread looks for commands for a while, and so is worth waking up before there are any.
    private let looksAhead: Bool
    private let commands = MessageRing<Command>(countLimit: 1 << 16, byteLimit: 64 << 20)
    private let client = Locked<NATSClient?>(nil)
    private let limit = Locked(1 << 20)

    init(
        _ servers: [String],
        _ security: NATSTransport.Security,
        _ subjects: Subjects,
        _ idlePolicy: IdlePolicy
    ) {
        self.servers = servers
        self.security = security
        self.subjects = subjects
        self.thread = EventLoop(name: "nats", configuration: .init(idlePolicy: idlePolicy))
        self.looksAhead = idlePolicy != .park
    }

    var payloadLimit: Int { self.limit.withLock { $0 } }

    func open(
        on eventLoop: EventLoop,
        receive: @escaping @Sendable (TransportEvent) -> Void
    ) async throws(RoutingError) {
        let objection = ServerURL.objection(
            to: self.servers,
            usesTLS: self.security.usesTLS,
            allowsPlaintext: self.security.allowsPlaintext
        )
        if let objection { throw objection }
        let sender = self.looksAhead ? self.thread : nil
        let events = NATSEvents(on: eventLoop, of: self.subjects, waking: sender, receive)
        let result = await withCheckedContinuation { continuation in
            self.thread.execute {
                continuation.resume(
                    returning: Result { () throws(RoutingError) in
                        let client = try NATSClient(self.servers, self.security, events)
                        self.limit.withLock { $0 = client.payloadLimit }
                        self.client.withLock { $0 = client }
                    }
                )
            }
        }
        try result.get()
    }

    func subscribe(_ subject: String, queue: String?) {
        self.enqueue(.subscribe(subject, queue: queue), isUrgent: true)
    }

    func unsubscribe(_ subject: String) { self.enqueue(.unsubscribe(subject), isUrgent: true) }

    func publish(
        _ subject: String,
        reply: String?,
        _ payload: [UInt8],
        headers: [(name: String, value: String)]
    ) -> Bool {
        let size = headers.reduce(payload.count + subject.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
        // What is an answer, to a subject that its caller has chosen, is no publication of this node.
        let isPublication =
            self.subjects.isPublication(subject) && reply.flatMap { self.subjects.request(in: $0) } != nil
        let message = OutgoingMessage(
            subject,
            reply: reply,
            payload,
            headers: headers,
            mayJoin: isPublication
        )
        guard isPublication else { return self.enqueue(.publish(message), size: size) }
        let limit = self.payloadLimit
        return self.enqueue(.publish(message), size: size) { $0.take(message, limit: limit) }
    }

    func flush() async {
        await withCheckedContinuation { continuation in
            let isQueued = self.enqueue(
                .run { client in
                    client.flush()
                    client.events.drain { continuation.resume() }
                },
                isUrgent: true
            )
            if !isQueued { continuation.resume() }
        }
    }

    func close() async {
        await withCheckedContinuation { continuation in
            let commands = self.commands.close()
            self.thread.execute {
                if let client = self.client.withLock({ $0.take() }) {
                    self.perform(commands, client)
                    client.close()
                }
                continuation.resume()
            }
        }
        await self.thread.shutDown()
    }

    @discardableResult
    private func enqueue(
        _ command: Command,
        size: Int = 0,
        isUrgent: Bool = false,
        joining join: (inout Command) -> Bool = { _ in false }
    ) -> Bool {
        switch self.commands.append(command, size: size, isUrgent: isUrgent, joining: join) {
        case .queued: return true
        case .needsWakeUp:
            self.thread.execute { self.perform() }
            return true
        case .full, .closed: return false
        }
    }

    /// Does what is to be done, on the thread for it.
    private func perform() {
        guard let client = self.client.withLock({ $0 }) else { return }
        while true {
            let commands = self.commands.takeAll()
            if commands.isEmpty { return }
            self.perform(commands, client)
        }
    }

    private func perform(_ commands: [Command], _ client: NATSClient) {
        for command in commands {
            switch command {
            case .publish(let message):
                client.publish(message.subject, message.reply, message.payload, message.headers)
            case .subscribe(let subject, let queue): client.subscribe(subject, queue)
            case .unsubscribe(let subject): client.unsubscribe(subject)
            case .run(let body): body(client)
            case .nothing: break
            }
        }
    }
}

/// What comes from libnats' threads, on its way to a loop.
final class NATSEvents: Sendable {
    private enum Entry: Sendable {
        case event(TransportEvent)
        /// Says that what was appended before has been received.
        case marker(@Sendable () -> Void)
    }

    /// How long the node receives at most before the loop does what else it has to do.
    private static let slice = Duration.milliseconds(1)

    private let ring: MessageRing<Entry>
    private let readMessages = Locked(ReadMessages())
    private let eventLoop: EventLoop
    private weak let sender: EventLoop?
    private let subjects: Subjects
    private let receive: @Sendable (TransportEvent) -> Void

    /// Makes a way to a loop.
    ///
    /// - Parameters:
    ///   - eventLoop: the loop.
    ///   - subjects: which messages may have gone out as one.
    ///   - sender: the thread that sends what the loop has to send, which wakes up together with it: its
    ///     answer, or the next request of the caller that is answered, is about to come.
    ///   - countLimit: how many messages may wait for the loop.
    ///   - receive: takes them, on the loop.
    init(
        on eventLoop: EventLoop,
        of subjects: Subjects,
        waking sender: EventLoop? = nil,
        countLimit: Int = 1 << 17,
        _ receive: @escaping @Sendable (TransportEvent) -> Void
    ) {
        self.ring = MessageRing(countLimit: countLimit, byteLimit: 256 << 20)
        self.eventLoop = eventLoop
        self.sender = sender
        self.subjects = subjects
        self.receive = receive
    }

    /// Gives a message back to libnats, now or with others; it is not used any more.
    func giveBack(_ message: OpaquePointer?, size: Int) {
        let address = UInt(bitPattern: message)
        self.readMessages.withLock { $0.add(address, size: size) }
    }

    /// Takes what has come, on a thread of the connection.
    func append(_ message: TransportMessage) {
        guard self.subjects.isPublication(message.subject) else {
            self.append(.message(message), size: message.payload.count, isUrgent: false)
            return
        }
        for part in message.parts {
            // That they are too many is said once.
            guard self.append(.message(part), size: part.payload.count, isUrgent: false) else { return }
        }
    }

    /// Gives back what waits for others, since no more come.
    func giveBackAll() { self.readMessages.withLock { $0.giveBack() } }

    /// Takes what has happened.
    ///
    /// - Returns: whether it is kept.
    @discardableResult
    func append(_ event: TransportEvent, size: Int = 0, isUrgent: Bool = true) -> Bool {
        switch self.ring.append(.event(event), size: size, isUrgent: isUrgent) {
        case .queued: return true
        case .needsWakeUp:
            self.eventLoop.execute { self.drain() }
            self.sender?.execute {}
            return true
        case .full:
            self.append(.overflow)
            return false
        case .closed: return false
        }
    }

    /// Has nothing received any more.
    func close() { self.runMarkers(in: self.ring.close()) }

    /// Calls a closure on the loop, after what has come before has been received.
    func drain(then body: @escaping @Sendable () -> Void) {
        switch self.ring.append(.marker(body), size: 0, isUrgent: true) {
        case .queued, .full: break
        case .needsWakeUp: self.eventLoop.execute { self.drain() }
        case .closed: self.eventLoop.execute(body)
        }
    }

    private func drain() {
        let entries = self.ring.takeAll()
        if !entries.isEmpty { self.receive(entries[...]) }
    }

    private func receive(_ entries: ArraySlice<Entry>) {
        if self.ring.isClosed { return self.runMarkers(in: entries) }
        let end = self.eventLoop.time.instant + Self.slice
        var rest = entries
        repeat {
            switch rest.removeFirst() {
            case .event(let event): self.receive(event)
            case .marker(let body): body()
            }
            // Beyond the loop's own budget, each message would cost a task that waits for the loop to poll.
        } while !rest.isEmpty && self.eventLoop.consumeDeliveryBudget() && self.eventLoop.time.instant < end
        self.eventLoop.execute { [rest] in
            if rest.isEmpty { self.drain() } else { self.receive(rest) }
        }
    }

    private func runMarkers(in entries: some Sequence<Entry>) {
        for case .marker(let body) in entries { self.eventLoop.execute(body) }
    }
}

/// Messages of libnats that have been read.
///
/// libnats frees a message on a thread of its own, which it wakes up for each that comes alone. Given back in
/// groups, many messages cost one wake-up.
@safe
private struct ReadMessages: Sendable {
    private var addresses: [UInt] = []
    private var size = 0

    private static let countLimit = 64
    private static let sizeLimit = 1 << 16

    mutating func add(_ address: UInt, size: Int) {
        self.addresses.append(address)
        self.size += size
        if self.addresses.count == Self.countLimit || self.size > Self.sizeLimit { self.giveBack() }
    }

    mutating func giveBack() {
        for address in self.addresses {
            // The address of a message that libnats has given away, and that is given back once.
            unsafe natsMsg_Destroy(OpaquePointer(bitPattern: address))
        }
        self.addresses.removeAll(keepingCapacity: true)
        self.size = 0
    }
}
#endif

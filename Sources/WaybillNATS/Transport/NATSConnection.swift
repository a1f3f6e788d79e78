#if NATS
internal import Synchronization
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// A command that waits for the thread of a connection.
struct NATSCommand: Sendable {
    /// The message to send; nil for an action.
    ///
    /// The message is not a case of `Action`, because the ring changes a waiting message in place. Changing
    /// the associated value of an enumeration case would copy the message.
    fileprivate(set) var message: OutgoingMessage?
    let action: Action?

    enum Action: Sendable {
        case subscribe(String, queue: String?)
        case unsubscribe(String)
        case flush(@Sendable () -> Void)
        case close(@Sendable () -> Void)
    }

    init(_ message: OutgoingMessage) {
        self.message = message
        self.action = nil
    }

    init(_ action: Action) {
        self.message = nil
        self.action = action
    }

    /// The approximate number of bytes that the command writes.
    var size: Int { self.message?.size ?? 256 }
}

/// A connection to NATS servers, with its own thread.
///
/// libnats holds the lock of a connection while it waits for the network, sometimes for seconds. A loop of a
/// bus therefore never calls libnats. Commands wait in a ring until the thread, which runs ``NATSWorker``,
/// performs them. Received events wait in another ring, in ``NATSEvents``, until the loop handles them.
final class NATSConnection: ClusterTransport {
    private let servers: [String]
    private let security: NATSTransport.Security
    private let subjects: Subjects
    private let idlePolicy: IdlePolicy
    private let commands = MessageRing<NATSCommand>(countLimit: 1 << 16, byteLimit: 64 << 20)
    private let spares = SpareBuffers()
    private let limit = Atomic(1 << 20)
    /// The attempts of earlier calls of ``open(on:receive:)`` that have possibly not ended.
    private let stalled = Locked(StalledAttempts())
    /// The thread of the connection and the loop of the bus; nil while the thread does not run.
    private let thread = Locked<Thread?>(nil)

    /// The maximum size, in bytes, of a small message.
    ///
    /// A small message about a request may exceed the limits of the ring.
    private static let smallSize = 8 << 10

    private struct Thread: Sendable {
        let poller: NATSPoller
        let loop: EventLoop
    }

    init(
        _ servers: [String],
        security: NATSTransport.Security,
        subjects: Subjects,
        idlePolicy: IdlePolicy
    ) {
        self.servers = servers
        self.security = security
        self.subjects = subjects
        self.idlePolicy = idlePolicy
    }

    var payloadLimit: Int { self.limit.load(ordering: .relaxed) }

    func open(
        on eventLoop: EventLoop,
        receive: @escaping @Sendable (TransportEvent) -> Bool
    ) async throws(RoutingError) {
        let servers = ServerList(
            self.servers,
            usesTLS: self.security.usesTLS,
            allowsPlaintext: self.security.allowsPlaintext
        )
        if let objection = servers.objection { throw objection }
        if self.commands.isClosed {
            throw RoutingError(
                .refused,
                message: "the transport has been opened before: create another transport to connect again"
            )
        }
        var security = self.security
        security.usesTLS = servers.usesTLS
        let poller = try NATSPoller()
        let events = NATSEvents(on: eventLoop, of: self.subjects, receive)
        let result = await withCheckedContinuation { continuation in
            LoopThread.start(name: "nats") { [security] in
                do throws(RoutingError) {
                    let makeAttempt = { server in
                        NATSAttempt(to: server, waking: poller) { () throws(RoutingError) in
                            try NATSClient(to: server, security: security, events: events, poller: poller)
                        }
                    }
                    let noteConnected = { (client: NATSClient) in
                        self.limit.store(client.payloadLimit, ordering: .relaxed)
                    }
                    let client = try NATSAttempt.connect(
                        toAnyOf: servers.all,
                        stalled: self.stalled,
                        waitingWith: poller,
                        makeAttempt
                    )
                    noteConnected(client)
                    self.thread.withLock { $0 = Thread(poller: poller, loop: eventLoop) }
                    continuation.resume(returning: Result<Void, RoutingError>.success(()))
                    var worker = NATSWorker(
                        client,
                        servers: servers,
                        commands: self.commands,
                        spares: self.spares,
                        events: events,
                        poller: poller,
                        makeAttempt: makeAttempt,
                        noteConnected: noteConnected
                    )
                    worker.run(self.idlePolicy)
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        try result.get()
    }

    func subscribe(_ subject: String, queue: String?) {
        self.enqueue(NATSCommand(.subscribe(subject, queue: queue)), room: .any)
    }

    func unsubscribe(_ subject: String) { self.enqueue(NATSCommand(.unsubscribe(subject)), room: .any) }

    func publish(
        _ subject: String,
        reply: ReplySubject?,
        _ payload: [UInt8],
        in envelope: MessageEnvelope?,
        headers: [(name: String, value: String)],
        as purpose: MessagePurpose
    ) -> Bool {
        let size = headers.reduce(payload.count + subject.utf8.count + (envelope?.size ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
        let (limit, spares) = (self.payloadLimit, self.spares)
        return self.enqueue(
            NATSCommand(OutgoingMessage(subject, reply: reply, payload, in: envelope, headers: headers)),
            size: size,
            room: self.room(for: purpose, size: size)
        ) { last in
            guard let envelope else { return false }
            return last.message?.join(payload, in: envelope, to: subject, reply: reply, limit: limit, spares)
                ?? false
        }
    }

    private func room(for purpose: MessagePurpose, size: Int) -> MessageRing<NATSCommand>.Room {
        switch purpose {
        case .publication, .request: .whole
        case .dialog: size <= Self.smallSize ? .fourfold : .whole
        // Announcements are rare. A node sends one for each heartbeat, for each change, and for each request.
        case .membership: .any
        }
    }

    func flush() async {
        await self.perform { .flush($0) }
    }

    func close() async {
        await self.perform { .close($0) }
        _ = self.commands.close()
    }

    /// Waits until the thread has performed an action, or returns at once when the thread does not run.
    private func perform(_ action: (@escaping @Sendable () -> Void) -> NATSCommand.Action) async {
        guard self.thread.withLock({ $0 != nil }) else { return }
        await withCheckedContinuation { continuation in
            let isQueued = self.enqueue(NATSCommand(action { continuation.resume() }), room: .any)
            if !isQueued { continuation.resume() }
        }
    }

    @discardableResult
    private func enqueue(
        _ command: @autoclosure () -> NATSCommand,
        size: Int = 0,
        room: MessageRing<NATSCommand>.Room = .whole,
        joining join: (inout NATSCommand) -> Bool = { _ in false }
    ) -> Bool {
        switch self.commands.append(command(), size: size, room: room, joining: join) {
        case .queued: return true
        case .needsWakeUp: break
        case .full, .closed: return false
        }
        // A thread that has not started yet later checks the ring by itself.
        guard let thread = self.thread.withLock({ $0 }) else { return true }
        if thread.loop.isInEventLoop {
            // Wake the thread only after the work that the loop has queued, so that the thread sends later
            // messages of that work together with this message.
            thread.loop.execute { thread.poller.wakeUp() }
        } else {
            thread.poller.wakeUp()
        }
        return true
    }
}
#endif

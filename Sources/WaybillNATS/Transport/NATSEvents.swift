#if NATS
internal import CNATS
internal import Synchronization
internal import WaybillEventLoop

/// What comes from libnats' threads, on its way to a loop.
final class NATSEvents: Sendable {
    private enum Entry: Sendable {
        case event(TransportEvent)
        /// Says that what was appended before has been received.
        case marker(@Sendable () -> Void)
    }

    /// How long the node receives at most before the loop does what else it has to do.
    private static let slice = Duration.milliseconds(1)

    /// Memory for what comes.
    let spares = SpareBuffers()
    private let ring: MessageRing<Entry>
    private let readMessages = Locked(ReadMessages())
    /// Whether the loop is about to be told that it is too slow.
    private let isOverflowing = Atomic(false)
    private let isLosingPublications = Atomic(false)
    private let eventLoop: EventLoop
    private let subjects: Subjects
    private let receive: @Sendable (TransportEvent) -> Bool

    /// Makes a way to a loop.
    ///
    /// - Parameters:
    ///   - eventLoop: the loop.
    ///   - subjects: which messages are publications.
    ///   - countLimit: how many messages may wait for the loop.
    ///   - receive: takes them, on the loop, as ``ClusterTransport/open(on:receive:)`` says.
    init(
        on eventLoop: EventLoop,
        of subjects: Subjects,
        countLimit: Int = 1 << 17,
        _ receive: @escaping @Sendable (TransportEvent) -> Bool
    ) {
        self.ring = MessageRing(countLimit: countLimit, byteLimit: 256 << 20)
        self.eventLoop = eventLoop
        self.subjects = subjects
        self.receive = receive
    }

    /// Gives a message back to libnats, now or with others; it is not used any more.
    func giveBack(_ message: OpaquePointer?, size: Int) {
        let address = UInt(bitPattern: message)
        self.readMessages.withLock { $0.add(address, size: size) }
    }

    deinit { self.giveBackAll() }

    /// Takes what has come, on a thread of the connection.
    func append(_ message: TransportMessage) {
        self.append(
            .message(message),
            size: message.payload.count,
            isUrgent: false,
            isPublication: self.subjects.isPublication(message.subject)
        )
    }

    /// Gives back what waits for others, since no more come.
    func giveBackAll() { self.readMessages.withLock { $0.giveBack() } }

    /// Takes what has happened.
    ///
    /// - Returns: whether it is kept.
    @discardableResult
    func append(
        _ event: TransportEvent,
        size: Int = 0,
        isUrgent: Bool = true,
        isPublication: Bool = false
    ) -> Bool {
        let room: MessageRing<Entry>.Room = isUrgent ? .any : isPublication ? .half : .whole
        switch self.ring.append(.event(event), size: size, room: room) {
        case .queued: return true
        case .needsWakeUp:
            self.eventLoop.execute { self.drain() }
            return true
        case .full:
            self.noteOverflow(ofPublications: isPublication)
            return false
        case .closed: return false
        }
    }

    /// Says once, until the loop has heard it, that it is too slow.
    func noteOverflow(ofPublications areOnlyPublications: Bool = false) {
        if areOnlyPublications {
            guard !self.isLosingPublications.exchange(true, ordering: .acquiringAndReleasing) else { return }
            self.append(.publicationOverflow)
        } else if !self.isOverflowing.exchange(true, ordering: .acquiringAndReleasing) {
            self.append(.overflow)
        }
    }

    /// Has nothing received any more.
    func close() { self.runMarkers(in: self.ring.close()) }

    /// Calls a closure on the loop, after what has come before has been received.
    func drain(then body: @escaping @Sendable () -> Void) {
        switch self.ring.append(.marker(body), size: 0, room: .any) {
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
            switch rest[rest.startIndex] {
            case .event(let event):
                self.noteTold(of: event)
                guard self.receive(event) else {
                    self.eventLoop.execute { [rest] in self.receive(rest) }
                    return
                }
                if case .message(let message) = event { self.spares.give(message.payload) }
            case .marker(let body): body()
            }
            rest.removeFirst()
            // Beyond the loop's own budget, each message would cost a task that waits for the loop to poll.
        } while !rest.isEmpty && self.eventLoop.consumeDeliveryBudget() && self.eventLoop.time.instant < end
        self.eventLoop.execute { [rest] in
            if rest.isEmpty { self.drain() } else { self.receive(rest) }
        }
    }

    private func noteTold(of event: TransportEvent) {
        switch event {
        case .overflow: self.isOverflowing.store(false, ordering: .releasing)
        case .publicationOverflow: self.isLosingPublications.store(false, ordering: .releasing)
        default: break
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

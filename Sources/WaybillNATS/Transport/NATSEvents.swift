#if NATS
internal import CNATS
internal import Synchronization
internal import WaybillEventLoop

/// The queue of events from the threads of libnats to a loop.
final class NATSEvents: Sendable {
    private enum Entry: Sendable {
        case event(TransportEvent)
        /// A closure that runs after all earlier events have been handled.
        case marker(@Sendable () -> Void)
    }

    /// The maximum time for which the node handles events before the loop continues with other work.
    private static let slice = Duration.milliseconds(1)

    /// The buffers for received messages.
    let spares = SpareBuffers()
    private let ring: MessageRing<Entry>
    private let readMessages = Locked(ReadMessages())
    /// Whether an overflow event is in the queue.
    private let isOverflowing = Atomic(false)
    private let isLosingPublications = Atomic(false)
    private let eventLoop: EventLoop
    private let subjects: Subjects
    private let handler: @Sendable (TransportEvent) -> Bool

    /// Creates a queue of at most `countLimit` messages for a loop.
    ///
    /// `handler` handles the events on the loop, as ``ClusterTransport/open(on:receive:)`` requires.
    init(
        on eventLoop: EventLoop,
        of subjects: Subjects,
        countLimit: Int = 1 << 17,
        _ handler: @escaping @Sendable (TransportEvent) -> Bool
    ) {
        self.ring = MessageRing(countLimit: countLimit, byteLimit: 256 << 20)
        self.eventLoop = eventLoop
        self.subjects = subjects
        self.handler = handler
    }

    /// Returns a message to libnats, at once or in a group; the caller must not use the message again.
    func giveBack(_ message: OpaquePointer?, size: Int) {
        let address = UInt(bitPattern: message)
        self.readMessages.withLock { $0.add(address, size: size) }
    }

    deinit { self.giveBackAll() }

    /// Returns all remaining messages to libnats, because no more messages will arrive.
    func giveBackAll() { self.readMessages.withLock { $0.giveBack() } }

    /// Enqueues an event.
    ///
    /// The limits of the queue apply to messages only. A full queue drops the message and reports the
    /// overflow.
    func append(_ event: TransportEvent) {
        var (size, room, isPublication) = (0, MessageRing<Entry>.Room.any, false)
        if case .message(let message) = event {
            size = message.size
            isPublication = self.subjects.isPublication(message.subject)
            room = isPublication ? .half : .whole
        }
        switch self.ring.append(.event(event), size: size, room: room) {
        case .queued, .closed: break
        case .needsWakeUp: self.eventLoop.execute { self.deliver() }
        case .full: self.noteOverflow(ofPublications: isPublication)
        }
    }

    /// Enqueues an overflow event, unless an overflow event is in the queue already.
    func noteOverflow(ofPublications areOnlyPublications: Bool = false) {
        if areOnlyPublications {
            guard !self.isLosingPublications.exchange(true, ordering: .acquiringAndReleasing) else { return }
            self.append(.publicationOverflow)
        } else if !self.isOverflowing.exchange(true, ordering: .acquiringAndReleasing) {
            self.append(.overflow)
        }
    }

    /// Closes the queue, which drops all later events.
    func close() { self.runMarkers(in: self.ring.close()) }

    /// Calls a closure on the loop, after all earlier events have been handled.
    func drain(then body: @escaping @Sendable () -> Void) {
        switch self.ring.append(.marker(body), size: 0, room: .any) {
        case .queued, .full: break
        case .needsWakeUp: self.eventLoop.execute { self.deliver() }
        case .closed: self.eventLoop.execute(body)
        }
    }

    /// Passes entries to the node until the loop has to poll, and schedules the remaining entries.
    ///
    /// `entries` are left from an earlier call; an empty slice means the entries of the queue. The node has
    /// already handled a part of the first entry if `beginsWithRemainder` is true.
    private func deliver(_ entries: ArraySlice<Entry> = [], beginsWithRemainder: Bool = false) {
        var rest = entries.isEmpty ? self.ring.takeAll()[...] : entries
        if rest.isEmpty { return }
        if self.ring.isClosed { return self.runMarkers(in: rest) }
        let end = self.eventLoop.time.instant + Self.slice
        var isRemainder = beginsWithRemainder
        repeat {
            switch rest[rest.startIndex] {
            case .event(let event):
                self.noteTold(of: event)
                guard self.handler(isRemainder ? .remainder : event) else {
                    self.eventLoop.execute { [rest] in self.deliver(rest, beginsWithRemainder: true) }
                    return
                }
                if case .message(let message) = event { self.spares.give(message.payload) }
            case .marker(let body): body()
            }
            rest.removeFirst()
            isRemainder = false
            // Stop when the delivery budget of the loop is used up. Otherwise each message would start a task
            // that waits until the loop has polled.
        } while !rest.isEmpty && self.eventLoop.consumeDeliveryBudget() && self.eventLoop.time.instant < end
        self.eventLoop.execute { [rest] in self.deliver(rest) }
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

/// Messages of libnats whose bytes have been copied, and which have not been returned to libnats yet.
///
/// libnats frees messages on its own thread. If each message is returned separately, the thread is woken up
/// for each message. A group of messages needs only one wake-up.
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
            // libnats has passed the ownership of the message to this code. Each address is destroyed once.
            unsafe natsMsg_Destroy(OpaquePointer(bitPattern: address))
        }
        self.addresses.removeAll(keepingCapacity: true)
        self.size = 0
    }
}
#endif

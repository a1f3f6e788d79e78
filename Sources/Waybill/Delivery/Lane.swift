internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// What a bus keeps on one loop, so that a route there takes no lock and shares no memory with another thread: the
/// routes as the loop last saw them, the next ID, and the books.
final class Lane: Sendable {
    let eventLoop: EventLoop
    let counters = Counters()
    let anchor: Anchor
    private let directory: Directory
    private let snapshot: LoopLocal<Snapshot>

    // Written by the loop's thread only; atomic because that can be proven.
    private let lastID = Atomic<UInt64>(CorrelationID.newBlock())

    /// How many routes led to the handler that is being called in place; it cannot suspend, so there is one at most.
    private let hops = Atomic<Int>(Lane.nobody)
    private static let nobody = -1

    init(eventLoop: EventLoop, directory: Directory, snapshot: Snapshot) {
        self.eventLoop = eventLoop
        self.anchor = Anchor(eventLoop)
        self.directory = directory
        self.snapshot = LoopLocal(snapshot, on: eventLoop)
    }

    /// Has the handler of a request called in place, if it is on this loop and cannot suspend.
    ///
    /// The message is made here and never moves: `call` runs below, instead of the message being returned above.
    ///
    /// - Parameters:
    ///   - request: what to deliver.
    ///   - call: calls the handler with the message, and keeps the value.
    /// - Returns: how far the request got.
    @inline(__always)
    func deliver(_ request: Request, _ call: (Handler, Message) throws -> Void) -> Attempt {
        let id = self.nextID()
        Counters.increment(self.counters.sent)
        let found: Found
        do throws(RoutingError) {
            found = try self.find(request.url)
        } catch {
            return .lost(error, id)
        }
        let handler = found.handler
        guard handler.typed != nil, handler.mailbox.eventLoop === self.eventLoop else {
            return .handOver(found, id)
        }
        if handler.mailbox.waiting.load(ordering: .relaxed) > 0 {
            handler.mailbox.assumeOnLoop { $0.catchUp() }
        }
        let message = request.message(id: id, parameters: (consume found).parameters)
        self.hops.store(request.hops, ordering: .relaxed)
        defer { self.hops.store(Self.nobody, ordering: .relaxed) }
        do {
            try call(handler, message)
            Counters.increment(self.counters.replied)
            return .called(id)
        } catch {
            let error = RoutingError.thrown(error, by: message)
            self.counters.close(Tally(error.code))
            return .failed(error, id)
        }
    }

    /// What a message that is sent here and now inherits.
    var inherited: DeliveryContext? {
        let hops = self.hops.load(ordering: .relaxed)
        return hops == Self.nobody ? DeliveryContext.current : DeliveryContext(hops: hops, deadline: nil)
    }

    @inline(__always)
    func nextID() -> CorrelationID {
        let id = self.lastID.load(ordering: .relaxed) &+ 1
        self.lastID.store(id, ordering: .relaxed)
        return CorrelationID(rawValue: id)
    }

    @inline(__always)
    func find(_ url: String) throws(RoutingError) -> Found {
        let snapshot = self.snapshot.value
        guard snapshot.generation == self.directory.generation.load(ordering: .acquiring) else {
            return try self.findAnew(url)
        }
        return try snapshot.find(url)
    }

    /// Looks a URL up after the routes have changed.
    @inline(never)
    private func findAnew(_ url: String) throws(RoutingError) -> Found {
        guard let snapshot = self.directory.snapshotIfWorthIt() else {
            return try self.directory.read { table throws(RoutingError) in try table.find(url) }
        }
        self.snapshot.value = snapshot
        return try snapshot.find(url)
    }
}

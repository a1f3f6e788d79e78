internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// What a bus keeps on one loop, so that a route there takes no lock and shares no memory with another thread: the
/// routes as the loop last saw them, the next ID, and the books.
actor Lane: LoopBound {
    nonisolated let eventLoop: EventLoop
    nonisolated let counters = Counters()
    nonisolated let anchor: Anchor
    private nonisolated let directory: Directory
    private var snapshot: Snapshot
    private var lastID = CorrelationID.newBlock()

    /// How many routes led to the handler that is being called in place; it cannot suspend, so there is one at most.
    private var hops = Lane.nobody
    private static let nobody = -1

    init(eventLoop: EventLoop, directory: Directory, snapshot: Snapshot) {
        self.eventLoop = eventLoop
        self.anchor = Anchor(eventLoop)
        self.directory = directory
        self.snapshot = snapshot
    }

    /// Delivers a request in place if its handler is on this loop and cannot suspend.
    @inline(__always)
    func attempt(_ request: Request) -> Attempt {
        let id = self.nextID()
        Counters.increment(self.counters.sent)
        let found: Found
        do throws(RoutingError) {
            found = try self.find(request.url)
        } catch {
            return .lost(error, id)
        }
        let handler = found.handler
        guard case .immediate(let body) = handler.body, handler.mailbox.eventLoop === self.eventLoop
        else { return .handOver(found, id) }
        if handler.mailbox.waiting.load(ordering: .relaxed) > 0 {
            handler.mailbox.assumeOnLoop { $0.catchUp() }
        }
        let message = request.message(id: id, parameters: found.parameters)
        let outer = self.hops
        self.hops = request.hops
        defer { self.hops = outer }
        do {
            let value = try body(message)
            Counters.increment(self.counters.replied)
            if message.parameters.hasFragment { handler.core.conclude(message, value) }
            return .replied(id, value)
        } catch {
            let error = RoutingError.thrown(error, by: message)
            self.counters.close(Tally(error.code))
            return .failed(error, id)
        }
    }

    /// What a message that is sent here and now inherits.
    var inherited: DeliveryContext? {
        if self.hops == Self.nobody { return DeliveryContext.current }
        return DeliveryContext(hops: self.hops, deadline: nil)
    }

    func nextID() -> CorrelationID {
        self.lastID &+= 1
        return CorrelationID(rawValue: self.lastID)
    }

    func find(_ url: String) throws(RoutingError) -> Found {
        if self.snapshot.generation != self.directory.generation.load(ordering: .acquiring) {
            guard let snapshot = self.directory.snapshotIfWorthIt() else {
                return try self.directory.read { table throws(RoutingError) in try table.find(url) }
            }
            self.snapshot = snapshot
        }
        return try self.snapshot.find(url)
    }
}

internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// What a bus keeps on one loop, so that a route there takes no lock and shares no memory with another thread: the
/// routes as the loop last saw them, the next ID, and the books.
actor Lane: LoopBound {
    nonisolated let eventLoop: EventLoop
    nonisolated let counters = Counters()
    private nonisolated let directory: Directory
    private var snapshot: Snapshot
    private var lastID = CorrelationID.newBlock()

    /// How many routes led to the handler that is being called in place; it cannot suspend, so there is one at most.
    private var hops: Int?

    init(eventLoop: EventLoop, directory: Directory, snapshot: Snapshot) {
        self.eventLoop = eventLoop
        self.directory = directory
        self.snapshot = snapshot
    }

    /// How far a request gets without suspending.
    enum Attempt {
        case done(Delivered, Message)
        case lost(CorrelationID, RoutingError)
        case handOver(Found, CorrelationID)
    }

    /// Delivers a request in place if its handler is on this loop and cannot suspend.
    func attempt(_ request: Request) -> Attempt {
        let id = self.nextID()
        Counters.increment(self.counters.sent)
        let found: Found
        do throws(RoutingError) {
            found = try self.find(request.url)
        } catch {
            return .lost(id, error)
        }
        let handler = found.handler
        guard case .immediate(let body) = handler.body, handler.mailbox.eventLoop === self.eventLoop
        else { return .handOver(found, id) }
        if handler.mailbox.waiting.load(ordering: .relaxed) > 0 {
            handler.mailbox.assumeOnLoop { $0.catchUp() }
        }
        let parcel = Parcel(message: request.message(id: id, parameters: found.parameters), handler: handler)
        let outer = self.hops
        self.hops = request.hops
        let outcome = parcel.call(body)
        self.hops = outer
        self.counters.close(Tally(outcome))
        return .done(Delivered(id: id, outcome: outcome), parcel.message)
    }

    /// What a message that is sent here and now inherits.
    var inherited: DeliveryContext? {
        guard let hops else { return DeliveryContext.current }
        return DeliveryContext(hops: hops, deadline: nil)
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
        return try self.snapshot.table.find(url)
    }
}

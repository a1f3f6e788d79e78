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
    private let empty: Snapshot
    private nonisolated let isForgetting = Atomic<Bool>(false)
    private var lastID = CorrelationID.newBlock()

    /// How many routes led to the handler that is being called in place, or ``nobody``.
    ///
    /// It cannot suspend, so there is one at most. Only the loop's thread reads or writes it.
    private nonisolated let hops = Atomic<Int>(Lane.nobody)
    private static let nobody = -1

    init(eventLoop: EventLoop, directory: Directory, snapshot: Snapshot) {
        self.eventLoop = eventLoop
        self.anchor = Anchor(eventLoop)
        self.directory = directory
        self.snapshot = snapshot
        self.empty = snapshot
    }

    /// Finds the handler of a request; if it is on this loop and cannot suspend, the caller calls it next.
    @inline(__always)
    func prepare(_ request: Request) -> Preparation {
        let id = self.nextID()
        Counters.increment(self.counters.sent)
        let found: Found
        do throws(RoutingError) {
            found = try self.find(request.url)
        } catch {
            return .lost(error, id)
        }
        guard found.handler.typed != nil, found.handler.mailbox.eventLoop === self.eventLoop else {
            return .handOver(found, id)
        }
        if found.handler.mailbox.waiting.load(ordering: .relaxed) > 0 {
            guard found.handler.mailbox.assumeOnLoop({ $0.catchUp() }) else { return .handOver(found, id) }
            if let error = found.handler.objection(to: request.url) { return .lost(error, id) }
        }
        self.hops.store(request.hops, ordering: .relaxed)
        return .ready(request.parcel(id: id, found))
    }

    /// Closes a message whose handler, called in place, has returned.
    @inline(__always)
    nonisolated func close() {
        self.hops.store(Self.nobody, ordering: .relaxed)
        Counters.increment(self.counters.replied)
    }

    /// Closes a message whose handler, called in place, has thrown.
    nonisolated func close(_ error: RoutingError) {
        self.hops.store(Self.nobody, ordering: .relaxed)
        self.counters.close(Tally(error.code))
    }

    /// Notes that a handler is called in place; for the loop's thread.
    ///
    /// - Returns: what ``end(_:)`` has to be given when it has returned.
    nonisolated func begin(hops: Int) -> Int {
        let outer = self.hops.load(ordering: .relaxed)
        self.hops.store(hops, ordering: .relaxed)
        return outer
    }

    nonisolated func end(_ outer: Int) { self.hops.store(outer, ordering: .relaxed) }

    /// What a message that is sent here and now inherits.
    var inherited: DeliveryContext? {
        let hops = self.hops.load(ordering: .relaxed)
        return hops == Self.nobody ? DeliveryContext.current : DeliveryContext(hops: hops, deadline: nil)
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
            self.use(snapshot)
        }
        return try self.snapshot.find(url)
    }

    /// Lets go of the handlers that have been unregistered, although nobody may ever route here again.
    nonisolated func forget() {
        if self.eventLoop.isInEventLoop {
            self.assumeOnLoop { $0.use($0.empty) }
        } else if !self.isForgetting.exchange(true, ordering: .acquiringAndReleasing) {
            self.eventLoop.execute {
                self.isForgetting.store(false, ordering: .releasing)
                self.assumeOnLoop { $0.use($0.empty) }
            }
        }
    }

    private func use(_ snapshot: Snapshot) {
        let old = self.snapshot
        self.snapshot = snapshot
        // What the last holder of a handler lets go of may use the bus, and so this lane.
        _ = consume old
    }
}

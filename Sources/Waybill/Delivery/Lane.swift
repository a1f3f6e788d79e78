internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// What a bus keeps on one loop, so that a route there takes no lock and shares no memory with another thread: the
/// routes as the loop last saw them, the next ID, and the books.
final class Lane: Sendable {
    let eventLoop: EventLoop
    private let loop: ObjectIdentifier
    let counters = Counters()
    let anchor: Anchor
    private let directory: Directory
    private let snapshot: LoopLocal<Snapshot>
    private let empty: Snapshot
    private let isForgetting = Atomic<Bool>(false)

    // Written by the loop's thread only; atomic because that can be proven.
    private let lastID = Atomic<UInt64>(CorrelationID.newBlock())

    /// How many routes led to the handler that is being called in place.
    ///
    /// It cannot suspend, but it may start a task in place that routes on; of several this is the innermost one's.
    private let hops = Atomic<Int>(Lane.nobody)
    static let nobody = -1

    /// Whether a handler is being called in place, below whoever asks on the stack; for the loop's thread.
    @inline(__always)
    var isCalling: Bool { self.hops.load(ordering: .relaxed) != Self.nobody }

    init(eventLoop: EventLoop, directory: Directory, snapshot: Snapshot) {
        self.eventLoop = eventLoop
        self.loop = ObjectIdentifier(eventLoop)
        self.anchor = Anchor(eventLoop)
        self.directory = directory
        self.snapshot = LoopLocal(snapshot, on: eventLoop)
        self.empty = snapshot
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
        let snapshot = self.snapshot.value
        guard snapshot.generation == self.directory.generation.load(ordering: .acquiring) else {
            return self.deliverAnew(request, id, call)
        }
        do throws(RoutingError) {
            var match = try snapshot.match(request.url)
            guard let handler = match.flatMap({ snapshot.handler(of: $0) }),
                let parameters = match.take()?.take()
            else { return .lost(snapshot.noRoute(for: request.url), id) }
            return self.deliver(request, id, to: handler, parameters, call)
        } catch {
            return .lost(error, id)
        }
    }

    /// Delivers a request after the routes have changed.
    @inline(never)
    private func deliverAnew(
        _ request: Request,
        _ id: CorrelationID,
        _ call: (Handler, Message) throws -> Void
    ) -> Attempt {
        do throws(RoutingError) {
            let found = try self.find(request.url)
            return self.deliver(request, id, to: found.handler, found.parameters, call)
        } catch {
            return .lost(error, id)
        }
    }

    @inline(__always)
    private func deliver(
        _ request: Request,
        _ id: CorrelationID,
        to handler: Handler,
        _ parameters: consuming Parameters,
        _ call: (Handler, Message) throws -> Void
    ) -> Attempt {
        guard handler.isImmediate, handler.loop == self.loop else {
            return .handOver(Found(handler: handler, parameters: parameters), id)
        }
        if handler.mailbox.waiting.load(ordering: .relaxed) > 0 {
            guard handler.mailbox.assumeOnLoop({ $0.catchUp() }) else {
                return .handOver(Found(handler: handler, parameters: parameters), id)
            }
            if let error = handler.objection(to: request.url) { return .lost(error, id) }
        }
        let message = request.message(id: id, parameters: parameters)
        let outer = self.begin(hops: request.hops)
        defer { self.end(outer) }
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

    /// Notes that a handler is called in place; for the loop's thread.
    ///
    /// - Returns: what ``end(_:)`` has to be given when it has returned.
    @inline(__always)
    func begin(hops: Int) -> Int {
        let outer = self.hops.load(ordering: .relaxed)
        self.hops.store(hops, ordering: .relaxed)
        return outer
    }

    @inline(__always)
    func end(_ outer: Int) { self.hops.store(outer, ordering: .relaxed) }

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

    /// Looks a URL up, in the routes as they are now.
    func find(_ url: String) throws(RoutingError) -> Found {
        if self.snapshot.value.generation != self.directory.generation.load(ordering: .acquiring) {
            guard let snapshot = self.directory.snapshotIfWorthIt() else {
                return try self.directory.read { table throws(RoutingError) in try table.find(url) }
            }
            self.use(snapshot)
        }
        return try self.snapshot.value.find(url)
    }

    /// Lets go of the handlers that have been unregistered, although nobody may ever route here again.
    func forget() {
        if self.eventLoop.isInEventLoop {
            self.use(self.empty)
        } else if !self.isForgetting.exchange(true, ordering: .acquiringAndReleasing) {
            self.eventLoop.execute {
                self.isForgetting.store(false, ordering: .releasing)
                self.use(self.empty)
            }
        }
    }

    private func use(_ snapshot: Snapshot) {
        let old = self.snapshot.value
        self.snapshot.value = snapshot
        // What the last holder of a handler lets go of may use the bus, and so this lane.
        _ = consume old
    }
}

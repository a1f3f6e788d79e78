internal import Synchronization
public import WaybillEventLoop
internal import WaybillRouting

/// The start of a message that meets middlewares on its way to a handler that answers at once.
///
/// It is open if the caller is on the bus's first loop, is no handler, and may go on without suspending. Otherwise nothing is in
/// the books, and the message has to go the long way.
@usableFromInline
struct Opening: Sendable {
    @usableFromInline private(set) var chain: Unretained<Chain>?

    @usableFromInline private(set) var handler: Unretained<Handler>?

    /// Holds chain and handler until the message has ended, if the loop does not keep what does.
    @usableFromInline private(set) var snapshot: Snapshot?

    @inlinable
    init() {}

    /// Makes the message for a URL, and opens.
    ///
    /// It is made to be returned: a message that was a part of this would be copied to be passed on.
    @inline(__always)
    mutating func open(_ url: String, on core: BusCore) -> Message {
        let lane = core.home
        guard core.admitsDelivery(on: lane) else { return .unsent }
        return lane.snapshot.withUnretained { snapshot in
            guard snapshot.generation == core.directory.generation.load(ordering: .acquiring),
                let chain = snapshot.unretainedChain, let match = try? snapshot.match(url),
                let handler = snapshot.unretainedHandler(at: match.route),
                handler.with({ $0.isImmediate && !$0.mailbox.isSerial })
            else { return .unsent }
            let parameters = (consume match).take()
            // What is returned has headers, which are kept on the long way.
            if parameters.hasFragment { return .unsent }
            self.chain = chain
            self.handler = handler
            if !lane.pin() { self.snapshot = snapshot }
            return Message(id: lane.open(), parameters: parameters, hops: 0)
        }
    }

    /// Writes down that the message has its reply.
    @inline(__always)
    func close(on core: BusCore) {
        let lane = core.home
        guard lane.isCurrent else { return self.closeElsewhere(core) }
        lane.counters.close(.replied)
        self.handler?.with { handler in
            guard handler.loop == lane.loop else { return handler.counters.count(.replied) }
            Counters.increment(handler.counters.repliedInPlace)
        }
        if self.snapshot == nil { lane.unpin() }
    }

    /// The same where a middleware has left the loop.
    @inline(never)
    private func closeElsewhere(_ core: BusCore) {
        self.handler?.object.counters.count(.replied)
        core.close(.replied)
        self.letGo(on: core.home)
    }

    /// Writes down that the message has failed.
    ///
    /// - Returns: the error, with the route that it is about.
    func close(_ error: RoutingError, _ message: Message, _ url: String, on core: BusCore) -> RoutingError {
        let error = error.at(self.handler?.object)
        let outcome = Outcome.failed(error)
        self.handler?.object.counters.count(Tally(outcome))
        core.close(outcome, message.id, url, at: self.handler?.object, message)
        self.letGo(on: core.home)
        return error
    }

    private func letGo(on lane: Lane) {
        guard self.snapshot == nil else { return }
        if lane.isCurrent { lane.unpin() } else { lane.eventLoop.execute { lane.unpin() } }
    }
}

extension Message {
    /// Stands for a message where there is none.
    @inline(__always)
    fileprivate static var unsent: Message {
        Message(id: CorrelationID(rawValue: 0), parameters: .none, hops: 0)
    }
}

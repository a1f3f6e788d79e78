internal import Synchronization
public import WaybillEventLoop
public import WaybillRouting

// The plain route is inlined into its caller, and this with it: so there is no asynchronous frame between the
// caller and the first middleware.
extension MessageBus {
    /// Whether there are middlewares, as far as this thread can know.
    @usableFromInline var isIntercepted: Bool { !self.core.registry.isPlain.load(ordering: .relaxed) }

    /// Routes a URL through the middlewares around its handler.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func routeIntercepted<Value: Sendable>(
        _ url: String,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        var opening = MiddlewareFastPath()
        let message = self.open(url, &opening)
        guard let chain = opening.chain, let handler = opening.handler else {
            return try await self.routeFar(url, as: type)
        }
        let value: any Sendable
        do throws(RoutingError) {
            value = try await Next(chain, 0, handler, nil).attempt(message)
        } catch {
            throw self.close(opening, error, message, url)
        }
        self.close(opening)
        if let value = unbox(value, as: type) { return value }
        return try self.convert(value, to: type, url: url)
    }

    @usableFromInline
    @inline(never)
    func open(_ url: String, _ opening: inout MiddlewareFastPath) -> Message {
        opening.open(url, on: self.core)
    }

    @usableFromInline
    func close(_ opening: borrowing MiddlewareFastPath) { opening.close(on: self.core) }

    @usableFromInline
    @inline(never)
    func close(
        _ opening: borrowing MiddlewareFastPath,
        _ error: RoutingError,
        _ message: Message,
        _ url: String
    ) -> RoutingError {
        opening.close(error, message, url, on: self.core)
    }

    /// The same for a message that cannot take the fast path.
    @usableFromInline
    @inline(never)
    nonisolated(nonsending) func routeFar<Value: Sendable>(
        _ url: String,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        let delivered = await self.core.route(Request(url: url))
        return try self.value(of: delivered.outcome, as: type, url: url)
    }
}

/// The start of a message that meets middlewares on its way to a handler that answers at once.
///
/// It is open if the caller is on a loop of the bus, is no handler, and may continue without suspending.
/// Otherwise nothing is counted, and the message is delivered by the general path.
@usableFromInline
struct MiddlewareFastPath: Sendable {
    @usableFromInline private(set) var chain: Unretained<MiddlewareChain>?

    @usableFromInline private(set) var handler: Unretained<Handler>?

    /// Of the loop on which it was opened.
    @usableFromInline private(set) var shard: Unretained<LoopShard>?

    /// Holds chain and handler until the message has ended, unless the loop keeps the snapshot that does.
    @usableFromInline private(set) var snapshot: RouteSnapshot?

    @inlinable
    init() {}

    /// Makes the message for a URL, and counts it.
    ///
    /// It is made to be returned: a message that was a part of this would be copied to be passed on.
    @inline(__always)
    mutating func open(_ url: String, on core: BusCore) -> Message {
        guard let shard = core.admittingShard else { return .unsent }
        // `admitsDelivery` has checked the thread, and nothing here replaces the snapshot, which holds the
        // handler.
        return unsafe shard.snapshot.withUnsafeObject { snapshot in
            guard snapshot.generation == core.registry.generation.load(ordering: .acquiring),
                let chain = snapshot.unretainedChain, let match = try? snapshot.match(url),
                let handler = snapshot.unretainedHandler(at: match.route),
                unsafe handler.withUnsafeObject({ $0.isImmediate && !$0.mailbox.isSerial })
            else { return .unsent }
            let parameters = (consume match).take()
            // A message with a return URL has to keep its headers, as the general path does.
            if parameters.hasFragment { return .unsent }
            self.chain = chain
            self.handler = handler
            self.shard = Unretained(shard)
            if !shard.pin() { self.snapshot = snapshot }
            return Message(id: shard.open(), parameters: parameters, hops: 0)
        }
    }

    /// Counts the message as replied.
    @inline(__always)
    func close(on core: BusCore) {
        // The bus holds its shards, and the caller the bus.
        let isClosed = unsafe self.shard?.withUnsafeObject { shard in
            guard shard.isCurrent else { return false }
            shard.counters.close(.replied)
            // The snapshot holds the handler; it is pinned on its loop, or held here, until the message has
            // ended.
            unsafe self.handler?.withUnsafeObject { handler in
                guard handler.loop == shard.loop else { return handler.counters.count(.replied) }
                Counters.increment(handler.counters.repliedInPlace)
            }
            if self.snapshot == nil { shard.unpin() }
            return true
        }
        if isClosed != true { return self.closeElsewhere(core) }
        core.noteEndInPlace()
    }

    /// The same where a middleware has left the loop.
    @inline(never)
    private func closeElsewhere(_ core: BusCore) {
        // The snapshot holds the handler; it is pinned on its loop, or held here, until the message has
        // ended.
        unsafe self.handler?.unsafeObject.counters.count(.replied)
        core.close(.replied)
        self.unpin()
    }

    /// Counts the message as failed.
    ///
    /// - Returns: the error, with the route that it is about.
    func close(_ error: RoutingError, _ message: Message, _ url: String, on core: BusCore) -> RoutingError {
        // The snapshot holds the handler; it is pinned on its loop, or held here, until the message has
        // ended.
        let error = error.at(unsafe self.handler?.unsafeObject)
        if let handler = unsafe self.handler?.unsafeObject {
            core.end(.failed(error), message.id, url, at: handler, hasBegun: false, message)
        }
        self.unpin()
        return error
    }

    private func unpin() {
        // The bus holds its shards, and the caller the bus.
        guard self.snapshot == nil, let shard = unsafe self.shard?.unsafeObject else { return }
        if shard.isCurrent { shard.unpin() } else { shard.eventLoop.execute { shard.unpin() } }
    }
}

extension Message {
    /// Stands for a message where there is none.
    @inline(__always)
    fileprivate static var unsent: Message {
        Message(id: CorrelationID(rawValue: 0), parameters: .none, hops: 0)
    }
}

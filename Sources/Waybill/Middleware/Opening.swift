internal import Synchronization
public import WaybillEventLoop
internal import WaybillRouting

/// A message at the first of its middlewares, on its way to a handler that answers at once.
///
/// The caller is on the bus's first loop, its delivery has been counted against the loop's budget, and it is no handler.
@usableFromInline
struct Opening: Sendable {
    @usableFromInline let message: Message

    /// Nil if the message has to go the long way, and nothing has been counted.
    @usableFromInline let chain: Unretained<Chain>?

    @usableFromInline let handler: Unretained<Handler>?

    /// Holds chain and handler until the message has ended.
    private let snapshot: Snapshot

    /// Makes the message for a URL.
    @inline(__always)
    init(_ url: String, on core: BusCore) {
        let snapshot = core.home.snapshot.load()
        self.snapshot = snapshot
        if snapshot.generation == core.directory.generation.load(ordering: .acquiring),
            let chain = snapshot.unretainedChain, let match = try? snapshot.match(url),
            let handler = snapshot.handler(at: match.route), handler.isImmediate
        {
            let parameters = (consume match).take()
            // What is returned has headers, which are kept on the long way.
            if !parameters.hasFragment {
                self.chain = chain
                self.handler = Unretained(handler)
                self.message = Message(id: core.home.open(), parameters: parameters, hops: 0)
                return
            }
        }
        self.chain = nil
        self.handler = nil
        self.message = Message(id: CorrelationID(rawValue: 0), parameters: .none, hops: 0)
    }

    /// Writes down that the message has its reply.
    @inline(__always)
    func close(on core: BusCore) {
        self.handler?.with { handler in
            guard core.home.isCurrent else {
                handler.counters.count(.replied)
                return core.close(.replied)
            }
            core.home.counters.close(.replied)
            guard handler.loop == core.home.loop else { return handler.counters.count(.replied) }
            Counters.increment(handler.counters.repliedInPlace)
        }
    }

    /// Writes down that the message has failed.
    func close(_ error: RoutingError, _ url: String, on core: BusCore) {
        let outcome = Outcome.failed(error)
        self.handler?.object.counters.count(Tally(outcome))
        core.close(outcome, self.message.id, url, at: self.handler?.object, self.message)
    }
}

// The plain route is inlined into its caller, and this with it: so there is no asynchronous frame between the caller and
// the first middleware.
extension MessageBus {
    /// Routes a URL through the middlewares around its handler.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func routeSurrounded<Value: Sendable>(
        _ url: String,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        let opening = self.open(url)
        guard let chain = opening.chain, let handler = opening.handler else {
            return try await self.routeFar(url, as: type)
        }
        let value: any Sendable
        do throws(RoutingError) {
            value = try await Next(chain, 0, handler, nil).attempt(opening.message)
        } catch {
            self.close(opening, error, url)
            throw error
        }
        self.close(opening)
        return try Self.cast(value, to: type, url: url)
    }

    @usableFromInline
    @inline(never)
    func open(_ url: String) -> Opening { Opening(url, on: self.core) }

    @usableFromInline
    func close(_ opening: borrowing Opening) { opening.close(on: self.core) }

    @usableFromInline
    @inline(never)
    func close(_ opening: borrowing Opening, _ error: RoutingError, _ url: String) {
        opening.close(error, url, on: self.core)
    }

    /// The same for a message that cannot go the short way.
    @usableFromInline
    @inline(never)
    nonisolated(nonsending) func routeFar<Value: Sendable>(
        _ url: String,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        let delivered = await self.core.routeSurrounded(Request(url: url), noListener)
        return try delivered.outcome.value(as: type, url: url)
    }
}

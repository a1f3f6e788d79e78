internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// The middlewares around deliveries, as they are now.
    func chain(on shard: LoopShard?) -> MiddlewareChain? {
        guard let shard else { return self.registry.chain }
        return shard.chain
    }

    /// Changes the middlewares, by adding one.
    ///
    /// - Parameters:
    ///   - pattern: the pattern of the URLs that it is around; nil for all.
    ///   - add: adds it, and says by which number it is removed.
    /// - Returns: what removes it.
    func intercept(pattern: String?, _ add: (inout MiddlewareRegistry) -> Int?) -> Registration {
        let id = self.registry.intercept(add)
        return Registration(pattern: pattern ?? "**", core: self, target: .middleware(id))
    }

    /// Routes a request through the middlewares.
    ///
    /// The request has inherited what it may, and there is no objection to it.
    nonisolated(nonsending) func routeIntercepted(
        _ request: Request,
        _ listener: Listener
    ) async -> DeliveryResult {
        let shard = self.currentShard
        guard let chain = self.chain(on: shard) else {
            return await self.route(request, listener: listener)
        }
        return await self.route(request, around: chain, on: shard, listener)
    }

    /// Finds the handler of a request, and routes the request through the middlewares around it.
    nonisolated(nonsending) func route(
        _ request: Request,
        around chain: MiddlewareChain,
        on shard: LoopShard?,
        _ listener: Listener
    ) async -> DeliveryResult {
        let id = self.open()
        let request = chain.isObserved ? request.noting(.request, on: self) : request
        do throws(RoutingError) {
            let found = try self.find(request, on: shard, around: chain)
            return await self.route(request, found, id, around: chain, listener)
        } catch {
            return self.lose(request, id, error)
        }
    }

    /// Takes a request through the middlewares to its handler.
    private nonisolated(nonsending) func route(
        _ request: Request,
        _ found: ResolvedRoute,
        _ id: CorrelationID,
        around chain: MiddlewareChain,
        _ listener: Listener = noListener
    ) async -> DeliveryResult {
        let handler = found.handler
        guard handler.isImmediate && !handler.mailbox.isSerial || handler.failure != nil,
            !request.expiry.exists
        else {
            let exchange = self.begin(
                request,
                id,
                at: handler,
                found.parameters,
                for: .waiting,
                around: chain
            )
            return self.delivered(
                request,
                await exchange.listen(listener),
                id,
                exchange.returnPath,
                by: handler
            )
        }
        var message = request.message(id: id, parameters: found.parameters, for: handler)
        message.keepHeaders()
        handler.counters.begin()
        let outcome = await Delivery(chain, handler, nil).outcome(of: message).at(handler)
        if case .replied(let value) = outcome { self.conclude(message, value) }
        self.end(outcome, id, request.url, at: handler, hasBegun: true, message)
        return self.delivered(request, outcome, id, message.extras?.returnPath, by: handler)
    }

    /// The end of a request that has met middlewares; if it had no handler, and none of them answered, it is
    /// uncaught.
    private func delivered(
        _ request: Request,
        _ outcome: Outcome,
        _ id: CorrelationID,
        _ path: ReturnPath?,
        by handler: Handler
    ) -> DeliveryResult {
        if handler.failure != nil, case .failed(let error) = outcome, error.code == .noRoute,
            let message = self.unmatched(request, id: id)
        {
            self.tellUncaught(message)
        }
        return DeliveryResult(id: id, outcome: outcome, returnPath: path)
    }

    /// The handler for a URL; where there are middlewares, one that stands for it if there is none.
    ///
    /// - Throws: `invalidURL`; without middlewares `noRoute` too.
    func find(
        _ request: borrowing Request,
        on shard: LoopShard?,
        around chain: MiddlewareChain?
    ) throws(RoutingError) -> ResolvedRoute {
        do throws(RoutingError) {
            return try self.find(request, on: shard)
        } catch {
            guard chain != nil, error.code == .noRoute else { throw error }
            let parameters = Parameters(address: try self.address(of: request.url))
            return ResolvedRoute(handler: Handler(failure: error, core: self), parameters: parameters)
        }
    }
}

/// A delivery through middlewares; it holds what is on the way.
struct Delivery: Sendable {
    let chain: MiddlewareChain
    /// Which middleware of the chain is the first.
    let index: Int
    let handler: Handler
    let stage: DeliveryBounds?

    init(_ chain: MiddlewareChain, from index: Int = 0, _ handler: Handler, _ stage: DeliveryBounds?) {
        self.chain = chain
        self.index = index
        self.handler = handler
        self.stage = stage
    }

    /// Delivers a message, and says how it ended.
    nonisolated(nonsending) func outcome(of message: Message) async -> Outcome {
        defer { withExtendedLifetime(self) {} }
        do throws(RoutingError) {
            let next = Next(
                Unretained(self.chain),
                self.index,
                Unretained(self.handler),
                self.stage.map(Unretained.init)
            )
            return .replied(try await next.attempt(message))
        } catch {
            return .failed(error)
        }
    }

    /// Delivers a message in a task of its own, on the caller's loop if it is one of the bus's, and ends an
    /// exchange with the outcome.
    @discardableResult
    func start(_ message: Message, for exchange: Exchange) -> HandlerTask {
        let isolation =
            self.handler.core.currentShard?.isolation ?? LoopIsolation(self.handler.mailbox.eventLoop)
        let task = isolation.start(self, message, for: exchange)
        exchange.bind(task: task)
        return task
    }
}

extension LoopIsolation {
    /// Starts a delivery in a task that is isolated to this actor.
    fileprivate nonisolated func start(
        _ delivery: Delivery,
        _ message: Message,
        for exchange: Exchange
    ) -> HandlerTask {
        if self.eventLoop.isInEventLoop {
            self.assumeOnLoop { $0.startInPlace(delivery, message, for: exchange) }
        } else {
            Task.immediate { await self.run(delivery, message, for: exchange) }
        }
    }

    private func startInPlace(
        _ delivery: Delivery,
        _ message: Message,
        for exchange: Exchange
    ) -> HandlerTask {
        delivery.handler.core.startTask {
            Task.immediate { await self.run(delivery, message, for: exchange) }
        }
    }

    private func run(_ delivery: Delivery, _ message: Message, for exchange: Exchange) async {
        guard !exchange.isOver else { return }
        let outcome = await DeliveryContext.local.withValue(exchange.context().inherited) {
            // Without a mention of the actor the closure would not be isolated to it.
            _ = self
            return await delivery.outcome(of: message)
        }
        exchange.finish(outcome, of: message, by: delivery.handler)
    }
}

extension Mailbox {
    /// Runs a message that no caller awaits, and the middlewares around its handler.
    func runUnawaited(
        _ message: Message,
        _ handler: Handler,
        _ chain: MiddlewareChain?,
        _ attempts: DeliveryBounds.Attempts?,
        for exchange: Exchange
    ) async -> Outcome {
        guard let chain else {
            return await handler.run(message, isolation: self, for: exchange)
        }
        let stage = DeliveryBounds(deadline: message.expiry, hasWaited: true, attempts: attempts)
        let delivery = Delivery(chain, handler, stage)
        return await DeliveryContext.local.withValue(exchange.context().inherited) {
            // Without a mention of the actor the closure would not be isolated to it.
            _ = self
            return await delivery.outcome(of: message)
        }
    }
}

/// What observers see between a message and its last reply.
enum ProgressEvent: Sendable {
    /// The handler has sent a progress reply.
    case progress(any Sendable)
    /// The caller has answered one.
    case answer(any Sendable)
}

/// What a message carries that meets middlewares.
final class InterceptionState: Sendable {
    /// The observers of progress replies.
    let observers: [@Sendable (ProgressEvent) -> Void]

    private let arrival: ArrivalHeaders

    /// The headers with which a message reached its handler; its return leg has the same.
    private final class ArrivalHeaders: Sendable {
        let headers = Locked<[String: String]?>(nil)
    }

    init() {
        self.observers = []
        self.arrival = ArrivalHeaders()
    }

    private init(_ interception: InterceptionState, observers: [@Sendable (ProgressEvent) -> Void]) {
        self.observers = observers
        self.arrival = interception.arrival
    }

    func adding(_ observer: @escaping @Sendable (ProgressEvent) -> Void) -> InterceptionState {
        InterceptionState(self, observers: self.observers + [observer])
    }

    /// The headers with which the message reached its handler, if it did.
    var headers: [String: String]? {
        get { self.arrival.headers.withLock { $0 } }
        set { self.arrival.headers.withLock { $0 = newValue } }
    }
}

extension Message {
    /// Has the middlewares look at a message that is sent, before its turn comes.
    ///
    /// - Parameters:
    ///   - chain: the middlewares.
    ///   - provenance: how the message was given to the bus, if that is observed.
    mutating func prepare(for chain: MiddlewareChain, from provenance: MessageProvenance? = nil) {
        self = chain.prepare(self)
        if let provenance { self = self.with(extras: (self.extras ?? .empty).with(provenance: provenance)) }
        self.keepHeaders()
    }

    /// Has the headers kept that a message with a return URL will have when it reaches its handler.
    mutating func keepHeaders() {
        guard self.hasReturnURL else { return }
        self = self.with(extras: (self.extras ?? .empty).with(interception: InterceptionState()))
    }

    /// Notes that the message reaches its handler as it is.
    func arrive() {
        guard self.hasReturnURL, let interception = self.extras?.interception else { return }
        interception.headers = self.headers
    }

    /// The headers of the return leg.
    var returnHeaders: [String: String] { self.extras?.interception?.headers ?? self.headers }

    /// The message, with an observer of its progress replies.
    func observed(by observer: @escaping @Sendable (ProgressEvent) -> Void) -> Message {
        guard self.exchange != nil else { return self }
        let extras = self.extras ?? .empty
        return self.with(
            extras: extras.with(interception: (extras.interception ?? InterceptionState()).adding(observer))
        )
    }
}

internal import Synchronization
public import WaybillEventLoop
internal import WaybillRouting

extension MessageBus {
    /// Calls a handler in place; a value of the right type is neither boxed nor cast.
    ///
    /// - Parameters:
    ///   - handler: what is called.
    ///   - message: what it handles.
    ///   - value: gets the handler's value, if it is of the type that the caller asks for.
    ///   - other: gets the value of a handler that answers with another type.
    /// - Throws: what the handler throws.
    @inlinable
    @inline(__always)
    func call<Value: Sendable>(
        _ handler: Handler,
        _ message: Message,
        _ value: inout Value?,
        _ other: inout OtherValue?
    ) throws {
        // The handler's code holds the object beside this reference to it.
        let answer = try unsafe handler.code.object.withUnsafeObject(as: ImmediateBody<Value>.self) {
            try $0.call(message)
        }
        if let answer {
            if message.hasReturnURL { self.followReturnURL(of: message, with: answer) }
            value = answer
        } else {
            let answer = try handler.call(message)
            if message.hasReturnURL { self.followReturnURL(of: message, with: answer) }
            other = OtherValue(answer)
        }
    }
}

/// How far a request got without suspending.
enum InPlaceResult {
    /// Its handler has returned, and the message is closed.
    case called(CorrelationID)
    /// Its handler has thrown, and the message is closed.
    case failed(RoutingError, CorrelationID)
    /// No route matches.
    case lost(RoutingError, CorrelationID)
    /// Its handler runs in a task of its own, and may have ended.
    case started(Exchange)
    /// Its handler cannot suspend, and is on another loop or has messages waiting.
    case queued(QueuedTask)
    /// It is not counted yet: there are middlewares around its handler, which may suspend.
    case intercepted
    /// The caller is on no loop of the bus, or has to let the loop poll first.
    case elsewhere
}

extension LoopShard {
    /// Has the handler of a request called in place, if it is on this loop and cannot suspend.
    ///
    /// The message is made here and never moves: `call` runs below, instead of the message being returned
    /// above.
    ///
    /// - Parameters:
    ///   - url: where to.
    ///   - number: a number that the URL has beside it.
    ///   - request: what else the caller gave, if anything.
    ///   - call: calls the handler with the message, and keeps the value.
    /// - Returns: how far the request got; with a number that is all the way, or it has not begun.
    @inline(__always)
    func deliver(
        _ url: String,
        _ number: InlineNumber?,
        _ request: Request?,
        _ call: (Handler, Message) throws -> Void
    ) -> InPlaceResult {
        if let number { return self.deliver(url, number, request, call) }
        guard self.isPlain else { return self.deliverAnew(url, request, call) }
        let id = self.open()
        do throws(RoutingError) {
            var match = try self.match(url)
            guard let handler = self.handler(of: match), let parameters = match.take()?.take() else {
                return self.lost(url, request, id)
            }
            // The snapshot holds the handler, and is kept while a delivery in place is under way.
            guard
                unsafe handler.withUnsafeObject({
                    $0.isImmediate && $0.loop == self.loop && !$0.mailbox.isOccupied
                })
            else {
                return self.deliver(
                    url,
                    request,
                    id,
                    to: unsafe handler.unsafeObject,
                    consume parameters,
                    call
                )
            }
            return self.deliverInPlace(request, id, to: handler, consume parameters, call)
        } catch {
            return self.lost(url, request, id, error)
        }
    }

    @inline(__always)
    private func deliver(
        _ url: String,
        _ number: InlineNumber,
        _ request: Request?,
        _ call: (Handler, Message) throws -> Void
    ) -> InPlaceResult {
        guard self.isPlain else { return .elsewhere }
        // For the loop's thread, as the whole shard; nothing here replaces the snapshot.
        let match = unsafe self.snapshot.withUnsafeObject { $0.match(url, number) }
        guard match.isFound, let handler = self.handler(of: match),
            // The snapshot holds the handler, and is kept while a delivery in place is under way.
            unsafe handler.withUnsafeObject({
                $0.isImmediate && $0.loop == self.loop && !$0.mailbox.isOccupied
            })
        else { return .elsewhere }
        return self.deliverInPlace(request, self.open(), to: handler, (consume match).take(), call)
    }

    /// Looks a URL up in the routes that the loop last saw.
    @inline(__always)
    func match(_ url: String) throws(RoutingError) -> RouteMatch? {
        // For the loop's thread, as the whole shard; nothing here replaces the snapshot.
        try unsafe self.snapshot.withUnsafeObjectThrowing { snapshot throws(RoutingError) in
            try snapshot.match(url)
        }
    }

    /// The handler of such a match, for as long as the loop sees these routes, or calls it in place.
    @inline(__always)
    func handler(of match: RouteMatch?) -> Unretained<Handler>? {
        guard let route = match?.route else { return nil }
        // For the loop's thread, as the whole shard; nothing here replaces the snapshot.
        return unsafe self.snapshot.withUnsafeObject { $0.unretainedHandler(at: route) }
    }

    /// The result for a URL that no route takes: a connector's, if there is one for its scheme.
    @inline(never)
    private func lost(
        _ url: String,
        _ request: Request?,
        _ id: CorrelationID,
        _ failure: RoutingError? = nil
    ) -> InPlaceResult {
        do throws(RoutingError) {
            let found = try self.snapshot.load().findConnector(url, failure)
            return self.handOver(request, url, id, to: found.handler, found.takeParameters())
        } catch {
            return .lost(error, id)
        }
    }

    /// Hands a request over that is not delivered in place.
    @inline(__always)
    private func handOver(
        _ request: Request?,
        _ url: String,
        _ id: CorrelationID,
        to handler: Handler,
        _ parameters: consuming Parameters
    ) -> InPlaceResult {
        // A caller that is part of a handler has a request, with what that inherits.
        guard let request else {
            return handler.core.handOver(Request(url: url), id, to: handler, parameters, for: nil)
        }
        return handler.core.handOver(request, id, to: handler, parameters, for: .waiting)
    }

    /// Counts a message that the loop gives to the bus, and names it.
    @inline(__always)
    func open() -> CorrelationID {
        Counters.increment(self.counters.sent)
        return self.nextID()
    }

    /// Delivers a request after the routes have changed, unless middlewares intercept it.
    @inline(never)
    private func deliverAnew(
        _ url: String,
        _ request: Request?,
        _ call: (Handler, Message) throws -> Void
    ) -> InPlaceResult {
        if self.isIntercepted { return .intercepted }
        let id = self.open()
        do throws(RoutingError) {
            let found = try self.find(url, request?.passed)
            return self.deliver(url, request, id, to: found.handler, found.parameters, call)
        } catch {
            return .lost(error, id)
        }
    }

    /// Delivers a request to a handler that may be on another loop, may have messages waiting, and may stand
    /// for several instances.
    @inline(never)
    private func deliver(
        _ url: String,
        _ request: Request?,
        _ id: CorrelationID,
        to handler: Handler,
        _ parameters: consuming Parameters,
        _ call: (Handler, Message) throws -> Void
    ) -> InPlaceResult {
        if handler.instanceGroup != nil {
            let member = ResolvedRoute(handler: handler, parameters: parameters)
                .member(on: self.loop, request?.passed)
            return self.deliver(url, request, id, to: member.handler, member.parameters, call)
        }
        guard handler.isImmediate, handler.loop == self.loop, handler.mailbox.isClear else {
            return self.handOver(request, url, id, to: handler, consume parameters)
        }
        defer { withExtendedLifetime(handler) {} }
        return self.deliverInPlace(request, id, to: Unretained(handler), consume parameters, call)
    }

    /// Calls the handler of a request, which is on this loop and has no message waiting.
    ///
    /// No reference to a handler that the snapshot holds is counted: a snapshot that is replaced while a
    /// handler is called in place is kept until the handler has returned.
    @inline(__always)
    private func deliverInPlace(
        _ request: Request?,
        _ id: CorrelationID,
        to handler: Unretained<Handler>,
        _ parameters: consuming Parameters,
        _ call: (Handler, Message) throws -> Void
    ) -> InPlaceResult {
        if let passed = request?.passed { parameters.pass(passed) }
        let hops = request?.hops ?? 0
        let expiry = request?.expiry ?? .never
        let outer = self.begin(InPlace(hops: hops, expiry: expiry))
        defer { self.end(outer) }
        let message = Message(
            id: id,
            parameters: parameters,
            hops: hops,
            expiry: expiry,
            extras: request?.extras,
            for: handler
        )
        do {
            // The caller, or the snapshot that is kept until `end`, holds the handler.
            try unsafe handler.withUnsafeObjectThrowing { try call($0, message) }
            Counters.increment(self.counters.replied)
            unsafe handler.withUnsafeObject { Counters.increment($0.counters.repliedInPlace) }
            return .called(id)
        } catch {
            // The caller, or the snapshot that is kept until `end`, holds the handler.
            let error = unsafe handler.unsafeObject.failure(error, of: message)
            let kind = Outcome.Kind(error.code)
            unsafe handler.withUnsafeObject { $0.counters.count(kind) }
            // Dead letters are shown by the caller of this function, which has the bus.
            self.counters.close(kind)
            return .failed(error, id)
        }
    }
}

internal import Synchronization
public import WaybillEventLoop
public import WaybillRouting

// The plain route is inlined into its caller, where the value's type is known: this is what it calls.
extension MessageBus {
    /// What is left to do for a request whose handler was not called in place, or has thrown.
    @usableFromInline
    enum Undelivered: Sendable {
        /// The handler runs in a task of its own, and may have ended.
        case started(Exchange)
        /// It did not get that far.
        case pending(Pending)
        /// It has returned a value of another type than the one that is asked for.
        case converted(OtherValue)
    }

    /// Such a value, behind one reference: an optional of the value itself would be destroyed by its type.
    @usableFromInline
    final class OtherValue: Sendable {
        @usableFromInline let value: any Sendable

        @inlinable
        init(_ value: any Sendable) { self.value = value }
    }

    /// A request on its way.
    @usableFromInline
    final class Pending: Sendable {
        let request: Request
        let attempt: InPlaceResult

        /// Keeps what a caller has said, with what its message inherits.
        init(_ request: consuming Request, _ attempt: InPlaceResult, on core: BusCore) {
            if let context = core.inherited { request.inherit(from: context) }
            self.request = request
            self.attempt = attempt
        }
    }

    /// Has the handler of a URL called in place; nil if it was.
    @usableFromInline
    func deliver(_ url: String, _ call: (Handler, Message) throws -> Void) -> Undelivered? {
        self.undelivered(self.core.deliver(url, nil, nil, call), of: Request(url: url))
    }

    /// The same for a URL with one number, which becomes text only if the text is asked for.
    @usableFromInline
    func deliver(
        _ url: String,
        query name: String,
        _ number: Int,
        _ call: (Handler, Message) throws -> Void
    ) -> Undelivered? {
        guard let attempt = self.attempt(url, InlineNumber(name, number, in: .query), call) else {
            return self.deliver(URLDraft.text(of: url, name, number), call)
        }
        return self.undelivered(attempt, of: Request(url: URLDraft.text(of: url, name, number)))
    }

    /// The same for a number that is passed with the call.
    @usableFromInline
    func deliver(
        _ url: String,
        passed name: String,
        _ number: Int,
        _ call: (Handler, Message) throws -> Void
    ) -> Undelivered? {
        func request() -> Request {
            Request(url: url, passed: PassedValues(name, number: number, over: nil))
        }
        guard let attempt = self.attempt(url, InlineNumber(name, number, in: .call), call) else {
            return self.deliver(request(), call)
        }
        return self.undelivered(attempt, of: request())
    }

    /// What becomes of a URL that has a number beside it; nil if the message has to be made with the number
    /// first.
    @inline(__always)
    private func attempt(
        _ url: String,
        _ number: InlineNumber?,
        _ call: (Handler, Message) throws -> Void
    ) -> InPlaceResult? {
        guard let number else { return nil }
        let attempt = self.core.deliver(url, number, nil, call)
        if case .elsewhere = attempt { return nil }
        return attempt
    }

    @inline(__always)
    private func undelivered(
        _ attempt: InPlaceResult,
        of request: @autoclosure () -> Request
    ) -> Undelivered? {
        switch attempt {
        case .called: nil
        case .started(let exchange): .started(exchange)
        // The middlewares get the whole request.
        default: .pending(Pending(request(), attempt, on: self.core))
        }
    }

    /// The same for a request with more than a URL.
    @usableFromInline
    func deliver(
        _ url: String,
        _ parameters: [String: any Sendable],
        _ headers: [String: String],
        _ deadline: consuming ContinuousClock.Instant?,
        _ timeout: Duration?,
        _ call: (Handler, Message) throws -> Void
    ) -> Undelivered? {
        self.deliver(Request(url, parameters, headers, deadline, timeout, by: self.core.time), call)
    }

    private func deliver(_ request: Request, _ call: (Handler, Message) throws -> Void) -> Undelivered? {
        let isLate = request.expiry.exists && request.expiry.hasPassed(by: self.core.time)
        let attempt = isLate ? .elsewhere : self.core.deliver(request.url, nil, request, call)
        return self.undelivered(attempt, of: request)
    }

    /// The same for a call of a service.
    @usableFromInline
    func deliver(
        _ url: String,
        _ passed: PassedValues?,
        _ timeout: Duration?,
        _ call: (Handler, Message) throws -> Void
    ) -> Undelivered? {
        var request = Request(url: url, passed: passed)
        if let timeout { request.limit(to: timeout, by: self.core.time) }
        return self.deliver(request, call)
    }

    /// The value of a handler that has ended without suspending.
    @inlinable
    func value<Value: Sendable>(
        atOnce rest: Undelivered,
        as type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value? {
        guard let value = try self.reply(atOnce: rest) else { return nil }
        return if let value = unbox(value, as: type) { value } else {
            try self.convert(value, to: type, url: url)
        }
    }

    @usableFromInline
    func reply(atOnce rest: Undelivered) throws(RoutingError) -> (any Sendable)? {
        switch rest {
        case .started(let exchange): try exchange.takeOutcome()?.value()
        case .pending: nil
        case .converted(let other): other.value
        }
    }

    /// The value of the reply, once there is one: out of line, or its frame would be the caller's.
    @inlinable
    @inline(never)
    nonisolated(nonsending) func value<Value: Sendable>(
        of rest: Undelivered,
        as type: Value.Type,
        url: String
    ) async throws(RoutingError) -> Value {
        let value = try await self.reply(of: rest)
        return if let value = unbox(value, as: type) { value } else {
            try self.convert(value, to: type, url: url)
        }
    }

    /// The reply, once there is one.
    @usableFromInline
    nonisolated(nonsending) func reply(of rest: Undelivered) async throws(RoutingError) -> any Sendable {
        switch rest {
        case .started(let exchange): try await exchange.listen(noListener).value()
        case .pending(let pending):
            try await self.core.route(pending.request, after: pending.attempt).outcome.value()
        case .converted(let other): other.value
        }
    }

    /// Sends the value of a handler that was called in place to its message's return URL.
    @usableFromInline
    func followReturnURL(of message: Message, with value: any Sendable) { self.core.conclude(message, value) }

    /// The value of a handler that answers with another type than the one that is asked for.
    @usableFromInline
    func convert<Value: Sendable>(
        _ value: any Sendable,
        to type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value {
        try self.value(of: .replied(value), as: type, url: url)
    }

    /// The value of a reply; one of another type than the one that is asked for is an error that names the
    /// route.
    func value<Value: Sendable>(
        of outcome: Outcome,
        as type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value {
        do throws(RoutingError) {
            return try outcome.value(as: type, url: url)
        } catch {
            guard error.code == .typeMismatch, error.route == nil else { throw error }
            throw error.at((try? self.core.registry.find(url, nil, on: nil))?.handler)
        }
    }
}

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
    /// The handler is on another loop, or has messages waiting.
    indirect case handOver(ResolvedRoute, CorrelationID)
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
                return self.lost(url, id)
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
            return self.lost(url, id, error)
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

    /// The result for a URL that no route takes.
    @inline(never)
    private func lost(_ url: String, _ id: CorrelationID, _ failure: RoutingError? = nil) -> InPlaceResult {
        do throws(RoutingError) {
            return .handOver(try self.snapshot.load().findConnector(url, failure), id)
        } catch {
            return .lost(error, id)
        }
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
        guard handler.loop == self.loop, handler.mailbox.isClear else {
            return .handOver(ResolvedRoute(handler: handler, parameters: parameters), id)
        }
        guard handler.isImmediate else {
            // A caller that is part of a handler has a request, with what that inherits.
            guard let request else {
                return .started(
                    handler.core.begin(Request(url: url), id, at: handler, consume parameters, for: nil)
                )
            }
            return .started(handler.core.begin(request, id, at: handler, consume parameters, for: .waiting))
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

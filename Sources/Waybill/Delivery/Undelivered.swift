public import WaybillEventLoop
public import WaybillRouting

// The plain route is inlined into its caller, where the value's type is known: this is what it calls.
extension MessageBus {
    /// What is left to do for a request whose handler was not called in place, or has thrown.
    @usableFromInline
    enum Undelivered: Sendable {
        /// The handler runs in a task of its own, and may have ended.
        case started(Exchange)
        /// The handler cannot suspend, and is on another loop or has messages waiting.
        case queued(QueuedTask)
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
        case .queued(let task): .queued(task)
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
        case .queued, .pending: nil
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
        case .started(let exchange): return try await exchange.listen(noListener).value()
        case .queued(let task):
            await self.core.handle(task)
            return try self.core.end(task)
        case .pending(let pending):
            return try await self.core.route(pending.request, after: pending.attempt).outcome.value()
        case .converted(let other): return other.value
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

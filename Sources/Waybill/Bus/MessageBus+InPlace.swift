public import WaybillEventLoop
public import WaybillRouting

// The plain route is inlined into its caller, where the value's type is known: this is what it calls.
extension MessageBus {
    /// A request whose handler could not be called in place, or has thrown.
    @usableFromInline
    final class Pending: Sendable {
        let request: Request
        let attempt: Attempt

        /// Whether nothing has happened yet, since middlewares surround the handler.
        @usableFromInline let isSurrounded: Bool

        /// Stands for every request that meets middlewares first.
        static let surrounded = Pending(Request(url: ""), .surrounded, isSurrounded: true)

        init(_ request: Request, _ attempt: Attempt, isSurrounded: Bool = false) {
            self.request = request
            self.attempt = attempt
            self.isSurrounded = isSurrounded
        }
    }

    /// Has the handler of a URL called in place; nil if it was.
    @usableFromInline
    func deliver(_ url: String, _ call: (Handler, Message) throws -> Void) -> Pending? {
        let attempt = self.core.deliver(url, nil, call)
        switch attempt {
        case .called: return nil
        case .surrounded: return .surrounded
        default: return Pending(Request(url: url), attempt)
        }
    }

    /// The value that came through middlewares, as the type that is asked for.
    @inlinable
    @inline(__always)
    static func cast<Value: Sendable>(
        _ value: any Sendable,
        to type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value {
        if let value = unbox(value, as: type) { return value }
        return try self.convert(value, to: type, url: url)
    }

    /// The same for a request with more than a URL.
    @usableFromInline
    func deliver(
        _ url: String,
        _ parameters: [String: any Sendable],
        _ headers: [String: String],
        _ deadline: ContinuousClock.Instant?,
        _ call: (Handler, Message) throws -> Void
    ) -> Pending? {
        let request = Request(url, parameters, headers, deadline)
        let attempt =
            request.due.hasPassed(by: self.core.time) ? .elsewhere : self.core.deliver(url, request, call)
        if case .called = attempt { return nil }
        // It goes to the middlewares as the request that it is.
        return Pending(request, attempt)
    }

    /// Sends the value of a handler that was called in place to its message's return URL.
    @usableFromInline
    func followReturnURL(of message: Message, with value: any Sendable) { self.core.conclude(message, value) }

    @usableFromInline
    nonisolated(nonsending) func finish<Value: Sendable>(
        _ pending: Pending,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        let delivered = await self.core.route(pending.request, after: pending.attempt)
        return try delivered.outcome.value(as: type, url: pending.request.url)
    }

    /// The value of a handler that answers with another type than the one that is asked for.
    @usableFromInline
    static func convert<Value: Sendable>(
        _ value: (any Sendable)?,
        to type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value {
        try Outcome.replied(value ?? ()).value(as: type, url: url)
    }
}

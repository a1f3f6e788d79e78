internal import WaybillEventLoop
public import WaybillRouting

// The plain route is inlined into its caller, where the value's type is known: this is what it calls.
extension MessageBus {
    /// A request whose handler could not be called in place, or has thrown.
    @usableFromInline
    final class Pending: Sendable {
        let request: Request
        let attempt: Attempt

        init(_ request: Request, _ attempt: Attempt) {
            self.request = request
            self.attempt = attempt
        }
    }

    /// Has the handler of a URL called in place; nil if it was.
    @usableFromInline
    func deliver(_ url: String, _ call: (Handler, Message) throws -> Void) -> Pending? {
        let attempt = self.core.deliver(url, nil, call)
        if case .called = attempt { return nil }
        return Pending(Request(url: url), attempt)
    }

    /// The same for a request with more than a URL.
    @usableFromInline
    func deliver(
        _ url: String,
        _ parameters: [String: any Sendable],
        _ headers: [String: String],
        _ deadline: ContinuousClock.Instant?,
        _ timeout: Duration?,
        _ call: (Handler, Message) throws -> Void
    ) -> Pending? {
        let request = Request(url, parameters, headers, deadline, timeout, by: self.core.time)
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
        return try self.value(of: delivered.outcome, as: type, url: pending.request.url)
    }

    /// The value of a handler that answers with another type than the one that is asked for.
    @usableFromInline
    func convert<Value: Sendable>(
        _ value: (any Sendable)?,
        to type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value {
        try self.value(of: .replied(value ?? ()), as: type, url: url)
    }

    /// The value of a reply; one of another type than the one that is asked for is an error that names the route.
    func value<Value: Sendable>(
        of outcome: Outcome,
        as type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value {
        do throws(RoutingError) {
            return try outcome.value(as: type, url: url)
        } catch {
            guard error.code == .typeMismatch, error.route == nil else { throw error }
            throw error.at((try? self.core.directory.find(url, nil, on: nil))?.handler)
        }
    }
}

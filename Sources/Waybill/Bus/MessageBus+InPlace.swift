public import WaybillRouting

// The plain route is inlined into its caller, where the value's type is known: this is what it calls.
extension MessageBus {
    @usableFromInline
    enum InPlace {
        case value(any Sendable)
        case pending(Pending)
    }

    /// A request that could not be answered in place, and how far it got.
    @usableFromInline
    final class Pending {
        let request: Request
        let attempt: Attempt

        init(request: Request, attempt: Attempt) {
            self.request = request
            self.attempt = attempt
        }
    }

    @usableFromInline
    func routeInPlace(_ url: String) -> InPlace {
        let request = Request(url: url)
        let attempt = self.core.attempt(request)
        if case .replied(_, let value) = attempt { return .value(value) }
        return .pending(Pending(request: request, attempt: attempt))
    }

    @usableFromInline
    nonisolated(nonsending) func finish<Value: Sendable>(
        _ pending: Pending,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        let delivered = await self.core.route(pending.request, after: pending.attempt)
        return try delivered.outcome.value(as: type, url: pending.request.url)
    }

    @usableFromInline
    @inline(never)
    static func discard<Value: Sendable>(
        _ value: any Sendable,
        as type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value {
        try Outcome.replied(value).value(as: type, url: url)
    }
}

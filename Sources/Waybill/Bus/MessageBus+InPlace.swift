public import WaybillRouting

// The plain route is inlined into its caller, where the value's type is known: this is what it calls.
extension MessageBus {
    @usableFromInline
    enum InPlace {
        /// The handler is to be called now, and the parcel closed.
        case ready(Parcel)
        case pending(Pending)
    }

    /// A request whose handler cannot be called in place, and how far it got.
    @usableFromInline
    final class Pending {
        let request: Request
        let preparation: Preparation

        init(request: Request, preparation: Preparation) {
            self.request = request
            self.preparation = preparation
        }
    }

    @usableFromInline
    func prepare(_ url: String) -> InPlace {
        let request = Request(url: url)
        let preparation = self.core.prepare(request)
        if case .ready(let parcel) = preparation { return .ready(parcel) }
        return .pending(Pending(request: request, preparation: preparation))
    }

    /// Closes a parcel whose handler has returned.
    @usableFromInline
    func close(_ parcel: Parcel, _ value: some Sendable) {
        self.core.home.close()
        if parcel.message.parameters.hasFragment { self.core.conclude(parcel.message, value) }
    }

    /// Closes a parcel whose handler has thrown.
    @usableFromInline
    func fail(_ parcel: Parcel, _ error: any Error) -> RoutingError {
        let error = RoutingError.thrown(error, by: parcel.message)
        self.core.home.close(error)
        return error
    }

    /// Delivers a parcel whose handler answers with another type than the one that is asked for.
    @usableFromInline
    nonisolated(nonsending) func finish<Value: Sendable>(
        _ parcel: Parcel,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        let url = parcel.message.parameters.url
        let delivered = await self.core.route(Request(url: url), after: .ready(parcel))
        return try delivered.outcome.value(as: type, url: url)
    }

    @usableFromInline
    nonisolated(nonsending) func finish<Value: Sendable>(
        _ pending: Pending,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        let delivered = await self.core.route(pending.request, after: pending.preparation)
        return try delivered.outcome.value(as: type, url: pending.request.url)
    }
}

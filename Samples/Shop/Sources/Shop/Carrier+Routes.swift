internal import Carriers
internal import Waybill

extension Carrier {
    /// Registers the route of the carrier on a bus.
    ///
    /// An error of the carrier becomes a `RoutingError` with the code `refused`, so that callers can tell it from
    /// a failure of the handler.
    nonisolated func join(_ bus: MessageBus) throws(RoutingError) {
        try bus.register("app://shipping/quote/:country") { message async throws -> Quote in
            do {
                return try await self.quote(to: message.argument("country"), grams: message.argument("grams"))
            } catch let error as CarrierError {
                throw RoutingError.refused("\(error)", cause: error)
            }
        }
    }
}

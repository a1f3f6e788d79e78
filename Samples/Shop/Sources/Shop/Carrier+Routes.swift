internal import Carriers
internal import Waybill

extension Carrier {
    /// Joins the carrier to a bus: the one place that knows both.
    ///
    /// Its errors become refusals, which callers can tell from a failure.
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

#if Metrics
public import Metrics
public import Waybill
internal import WaybillEventLoop

/// A middleware that counts every delivery of a message and measures its duration, with swift-metrics.
///
/// ```swift
/// bus.use(MetricsMiddleware())
/// ```
///
/// | label | kind | dimensions |
/// | --- | --- | --- |
/// | `waybill_messages` | counter | `route`, `outcome` |
/// | `waybill_message_duration` | timer | `route`, `outcome` |
/// | `waybill_messages_in_flight` | meter | none |
///
/// The dimension `route` is the pattern that matched, or empty if no pattern matched. The dimension `outcome`
/// is `replied`, or the code of the failure. URLs are not dimensions, because their number is unlimited.
///
/// The measured times contain the handler and the middlewares that were added after this middleware. Add this
/// middleware first to measure the times that callers see.
public struct MetricsMiddleware: Middleware {
    private let instruments: Instruments

    /// Creates a middleware that measures deliveries.
    ///
    /// - Parameters:
    ///   - factory: The factory of the metrics; nil for the factory that the program has set with
    ///     `MetricsSystem.bootstrap`.
    ///   - prefix: The prefix of the labels.
    public init(factory: (any MetricsFactory)? = nil, prefix: String = "waybill") {
        self.instruments = Instruments(factory: factory ?? MetricsSystem.factory, prefix: prefix)
    }

    /// Counts a delivery and measures its duration.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        self.instruments.begin()
        let start = ContinuousClock.now
        do throws(RoutingError) {
            let value = try await next.attempt(message)
            self.instruments.end(context.pattern, "replied", after: ContinuousClock.now - start)
            return value
        } catch {
            let outcome = error.code.description
            self.instruments.end(context.pattern, outcome, after: ContinuousClock.now - start)
            throw error
        }
    }
}
#endif

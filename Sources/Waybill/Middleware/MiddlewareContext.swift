public import WaybillEventLoop

/// What a middleware may know of a delivery beside the message: the route that it leads to, and the bus's clock.
///
/// It cannot be copied or kept: it ends with the delivery.
public struct MiddlewareContext: ~Copyable, Sendable {
    // Held by the delivery that makes this.
    @usableFromInline let handler: Unretained<Handler>

    @inlinable
    init(_ handler: Unretained<Handler>) { self.handler = handler }

    /// The pattern that the message has matched; nil if there is none, and so no handler.
    ///
    /// There are as many patterns as there are routes, so it is what a measurement may be split by.
    public var pattern: String? { self.handler.with { $0.pattern } }

    /// The present instant, as the deadlines of the bus go by it: in a test that advances the time by hand, its time.
    public var now: ContinuousClock.Instant { self.handler.with { $0.core.time.instant } }

    /// Waits, by the bus's clock.
    ///
    /// - Parameter duration: how long.
    /// - Throws: `CancellationError` if the task is cancelled.
    public nonisolated(nonsending) func sleep(for duration: Duration) async throws {
        let core = self.handler.object.core
        guard core.time.manual != nil else { return try await ContinuousClock().sleep(for: duration) }
        try await core.home.eventLoop.clock.sleep(for: duration)
    }
}

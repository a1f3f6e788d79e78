#if ServiceLifecycle
public import ServiceLifecycle
public import Waybill

/// A bus as a service among others: it runs until the group shuts down, and then shuts down gracefully.
///
/// ```swift
/// let bus = MessageBus()
/// try bus.register("app://clock/now") { _ in ContinuousClock.now }
///
/// let group = ServiceGroup(
///     services: [bus, server],
///     gracefulShutdownSignals: [.sigterm],
///     logger: Logger(label: "main")
/// )
/// try await group.run()
/// ```
///
/// A group shuts its services down last to first, so name the bus before those that route on it: it runs
/// until they have ended. When it is shut down it takes no new messages, what its handlers still route is
/// delivered, and callers that still wait when the time is up fail with `shutDown`. ``MessageBusService``
/// sets that time; a bus by itself takes five seconds.
extension MessageBus: Service {
    /// Runs until graceful shutdown, and then lets what is in flight end, for five seconds at most.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that; what is in flight then fails at
    ///   once.
    public func run() async throws { try await self.run(drainingFor: .seconds(5)) }

    /// Runs until graceful shutdown, and then lets what is in flight end.
    ///
    /// Cancelling the task ends the bus at once, also while it drains.
    ///
    /// - Parameter limit: how long to wait for what is in flight.
    /// - Returns: how many messages ended in time, and how many did not.
    /// - Throws: `CancellationError` if the task is cancelled before graceful shutdown.
    @discardableResult
    public func run(drainingFor limit: Duration) async throws -> DrainSummary {
        do {
            try await gracefulShutdown()
        } catch {
            await self.shutDown()
            throw error
        }
        return await self.shutDown(drainingFor: limit)
    }
}
#endif

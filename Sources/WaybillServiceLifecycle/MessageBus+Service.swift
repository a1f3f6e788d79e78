#if ServiceLifecycle
public import ServiceLifecycle
public import Waybill

/// A bus as a service of a group. It runs until the group shuts down, and then shuts down gracefully.
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
/// A group shuts its services down from the last to the first. Name the bus before the services that route on
/// it, so that it runs until they have ended. During its shutdown the bus rejects new messages and delivers
/// messages of running handlers. Callers that still wait after the time limit fail with `shutDown`. The limit
/// is five seconds, or the limit of a ``MessageBusService``.
extension MessageBus: Service {
    /// Runs until graceful shutdown, and then waits at most five seconds for messages in flight.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that. Messages in flight then fail
    ///   immediately.
    public func run() async throws { try await self.run(drainingFor: .seconds(5)) }

    /// Runs until graceful shutdown, and then waits for messages in flight.
    ///
    /// Cancelling the task ends the bus immediately, also while it drains.
    ///
    /// - Parameter limit: The time to wait for messages in flight.
    /// - Returns: The number of messages that ended in time, and of messages that did not.
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

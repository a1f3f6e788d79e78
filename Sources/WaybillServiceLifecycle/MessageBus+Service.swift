#if ServiceLifecycle
public import ServiceLifecycle
public import Waybill

/// A bus as a service in a group.
///
/// The bus runs until the group shuts down, and then shuts down gracefully.
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
/// A group shuts its services down from last to first, so list the bus before the services that send messages
/// on the bus. The bus then runs until these services have ended. During its shutdown, the bus rejects new
/// messages, but delivers messages that its handlers send. When the time limit has passed, callers that still
/// wait fail with `shutDown`. The limit is five seconds. Use ``MessageBusService`` to set another limit.
extension MessageBus: Service {
    /// Runs until graceful shutdown, and then waits up to five seconds for the messages in flight.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before graceful shutdown. In that case, the
    ///   messages in flight fail at once.
    public func run() async throws { try await self.run(drainingFor: .seconds(5)) }

    /// Runs until graceful shutdown, and then waits for the messages in flight.
    ///
    /// If the task is cancelled, the bus shuts down at once, even while it waits for messages.
    ///
    /// - Parameter limit: The maximum time to wait for the messages in flight.
    /// - Returns: The number of messages that had an outcome within the limit, and the number of messages
    ///   that did not.
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

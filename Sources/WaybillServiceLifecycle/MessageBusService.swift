#if ServiceLifecycle
public import ServiceLifecycle
public import Waybill

/// A bus as a service with a time limit for its graceful shutdown.
///
/// ```swift
/// let service = MessageBusService(bus, drainingFor: .seconds(30))
/// ```
///
/// Keep the limit below the group's `maximumGracefulShutdownDuration`, if it has one. After that duration the
/// group cancels its services, and messages in flight fail immediately.
public struct MessageBusService: Service {
    private let bus: MessageBus
    private let limit: Duration

    /// Creates a service of a bus.
    ///
    /// - Parameters:
    ///   - bus: The bus.
    ///   - limit: The time to wait for messages in flight after graceful shutdown.
    public init(_ bus: MessageBus, drainingFor limit: Duration) {
        self.bus = bus
        self.limit = limit
    }

    /// Runs until graceful shutdown, and then waits for messages in flight.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that. Messages in flight then fail
    ///   immediately.
    public func run() async throws { try await self.bus.run(drainingFor: self.limit) }
}
#endif

#if ServiceLifecycle
public import ServiceLifecycle
public import Waybill

/// A bus as a service with a time limit for its graceful shutdown.
///
/// ```swift
/// let service = MessageBusService(bus, drainingFor: .seconds(30))
/// ```
///
/// If the group has a `maximumGracefulShutdownDuration`, choose a shorter limit. When that duration has
/// passed, the group cancels its services, and the messages in flight fail at once.
public struct MessageBusService: Service {
    private let bus: MessageBus
    private let limit: Duration

    /// Creates a service for a bus.
    ///
    /// - Parameters:
    ///   - bus: The bus that shuts down with the group.
    ///   - limit: The maximum time to wait for the messages in flight, after graceful shutdown begins.
    public init(_ bus: MessageBus, drainingFor limit: Duration) {
        self.bus = bus
        self.limit = limit
    }

    /// Runs until graceful shutdown, and then waits for the messages in flight.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before graceful shutdown. In that case, the
    ///   messages in flight fail at once.
    public func run() async throws { try await self.bus.run(drainingFor: self.limit) }
}
#endif

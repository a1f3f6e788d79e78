#if ServiceLifecycle
public import ServiceLifecycle
public import Waybill

/// A bus as a service with a limit for its graceful shutdown.
///
/// ```swift
/// let service = MessageBusService(bus, drainingFor: .seconds(30))
/// ```
///
/// Keep the time below the group's `maximumGracefulShutdownDuration`, if it has one: at that the group
/// cancels its services, and what is in flight then fails at once.
public struct MessageBusService: Service {
    private let bus: MessageBus
    private let limit: Duration

    /// Makes a service of a bus.
    ///
    /// - Parameters:
    ///   - bus: what is to end with the group.
    ///   - limit: how long to wait, after graceful shutdown, for what is in flight.
    public init(_ bus: MessageBus, drainingFor limit: Duration) {
        self.bus = bus
        self.limit = limit
    }

    /// Runs until graceful shutdown, and then lets what is in flight end.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before that; what is in flight then fails at
    ///   once.
    public func run() async throws { try await self.bus.run(drainingFor: self.limit) }
}
#endif

#if ServiceLifecycle
public import ServiceLifecycle
public import WaybillEventLoop

/// The signals of the process as a service of a group.
///
/// Some signals end the group, and others call handlers.
///
/// ```swift
/// let signals = SignalService(
///     endingOn: [.interrupt, .terminate],
///     on: bus.eventLoop,
///     handling: [.hangUp: { try bus.load(RouteConfiguration(contentsOf: url)) }]
/// )
/// let group = ServiceGroup(
///     configuration: .init(services: [.init(service: bus), signals.configuration], logger: logger)
/// )
/// try await group.run()
/// ```
///
/// The service returns when a signal ends it, and its ``configuration`` makes the group then shut down
/// gracefully. Signal handlers therefore need no reference to the group. If all signals only end the program,
/// the `gracefulShutdownSignals` of a group are sufficient. Do not name a signal in both places.
///
/// An event loop catches the signals while the service runs. Name the service last, so that it ends first. A
/// second Control-C then ends a process that is draining.
public struct SignalService: Service {
    private let ending: Set<Signal>
    private let eventLoop: EventLoop
    private let handlers: [Signal: @Sendable () async throws -> Void]

    /// Creates a service that waits for signals.
    ///
    /// - Parameters:
    ///   - ending: The signals that end the service, and with it the group.
    ///   - eventLoop: The loop that catches the signals. It must run as long as the service does.
    ///   - handlers: The handlers of other signals. They run one at a time, in the order of arrival.
    public init(
        endingOn ending: Set<Signal> = [.interrupt, .terminate],
        on eventLoop: EventLoop,
        handling handlers: [Signal: @Sendable () async throws -> Void] = [:]
    ) {
        self.ending = ending
        self.eventLoop = eventLoop
        self.handlers = handlers
    }

    /// The service in a group that shuts down gracefully when the service returns.
    public var configuration: ServiceGroupConfiguration.ServiceConfiguration {
        .init(service: self, successTerminationBehavior: .gracefullyShutdownGroup)
    }

    /// Waits until a signal ends the service, or the group shuts down.
    ///
    /// - Throws: ``EventLoopError`` if a signal cannot be caught or the loop shuts down, or the error of a
    ///   handler.
    public func run() async throws {
        let signals = try await self.eventLoop.signals(self.ending.union(self.handlers.keys))
        for try await signal in signals.cancelOnGracefulShutdown() {
            if self.ending.contains(signal) { return }
            try await self.handlers[signal]?()
        }
    }
}
#endif

#if ServiceLifecycle
public import ServiceLifecycle
public import WaybillEventLoop

/// The signals of the process as a service among others: one of them ends the group, and others do what the
/// program says.
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
/// A program needs no place to keep the group in for its signal handlers: the service returns, and
/// ``configuration`` has the group shut down gracefully when it does. Where all that a signal does is to end
/// the program, the `gracefulShutdownSignals` of a group do as well; name no signal in both.
///
/// The signals are caught on an event loop from the moment the service runs until it ends. Name it last: it
/// is then the first to end, and a second Control-C ends the process that drains.
public struct SignalService: Service {
    private let ending: Set<Signal>
    private let eventLoop: EventLoop
    private let handlers: [Signal: @Sendable () async throws -> Void]

    /// Makes a service that waits for signals.
    ///
    /// - Parameters:
    ///   - ending: the signals that end the service, and so the group.
    ///   - eventLoop: the loop that catches the signals; it has to run for as long as the service does.
    ///   - handlers: what to do about other signals, one at a time and in the order of their arrival.
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

    /// Waits until a signal arrives that ends the service, or the group shuts down.
    ///
    /// - Throws: ``EventLoopError`` if a signal cannot be caught or the loop shuts down, and what a handler
    ///   throws.
    public func run() async throws {
        let signals = try await self.eventLoop.signals(self.ending.union(self.handlers.keys))
        for try await signal in signals.cancelOnGracefulShutdown() {
            if self.ending.contains(signal) { return }
            try await self.handlers[signal]?()
        }
    }
}
#endif

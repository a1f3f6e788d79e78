#if ServiceLifecycle
public import ServiceLifecycle
public import WaybillEventLoop

/// A service in a group that receives the signals of the process.
///
/// Some signals end the group, and others call handlers of the program.
///
/// ```swift
/// let signals = SignalService(
///     endingOn: [.interrupt, .terminate],
///     on: bus.eventLoop,
///     handling: [
///         .hangUp: {
///             do {
///                 try bus.load(RouteConfiguration(contentsOf: url))
///             } catch {
///                 logger.error("the routes did not change: \(error)")
///             }
///         }
///     ]
/// )
/// let group = ServiceGroup(
///     configuration: .init(services: [.init(service: bus), signals.configuration], logger: logger)
/// )
/// try await group.run()
/// ```
///
/// The program does not have to store the group for its signal handlers: when the service returns, its
/// ``configuration`` makes the group shut down gracefully. If signals only have to end the program, the
/// `gracefulShutdownSignals` of a group are sufficient. Do not list a signal there and in this service.
///
/// An event loop catches the signals while the service runs. List this service last in the group, so that the
/// group ends this service first. A second Control-C then ends the process at once, even while other services
/// shut down.
public struct SignalService: Service {
    private let ending: Set<Signal>
    private let eventLoop: EventLoop
    private let handlers: [Signal: @Sendable () async throws -> Void]

    /// Creates a service that waits for signals.
    ///
    /// - Parameters:
    ///   - ending: The signals that end the service, and therefore the group.
    ///   - eventLoop: The loop that catches the signals. The loop must run at least as long as the service.
    ///   - handlers: The handlers of other signals. These handlers are called one at a time, in the order in
    ///     which the signals arrive. While a handler runs, at most 64 signals wait. A signal that ends the
    ///     service, or the shutdown of the group, cancels the handler that runs, waits until the handler
    ///     returns, and drops the signals that wait. An error that a handler throws ends the service, and the
    ///     group.
    public init(
        endingOn ending: Set<Signal> = [.interrupt, .terminate],
        on eventLoop: EventLoop,
        handling handlers: [Signal: @Sendable () async throws -> Void] = [:]
    ) {
        self.ending = ending
        self.eventLoop = eventLoop
        self.handlers = handlers
    }

    /// The configuration of the service in its group.
    ///
    /// When the service returns, or a handler throws an error, the group shuts down gracefully.
    public var configuration: ServiceGroupConfiguration.ServiceConfiguration {
        .init(
            service: self,
            successTerminationBehavior: .gracefullyShutdownGroup,
            failureTerminationBehavior: .gracefullyShutdownGroup
        )
    }

    /// Waits until a signal ends the service, or the group shuts down.
    ///
    /// - Throws: ``/WaybillEventLoop/EventLoopError`` if a signal cannot be caught or the loop shuts down,
    ///   and the errors of the handlers.
    public func run() async throws {
        let signals = try await self.eventLoop.signals(self.ending.union(self.handlers.keys))
        let (handled, queue) = AsyncStream.makeStream(of: Signal.self, bufferingPolicy: .bufferingOldest(64))
        try await withThrowingTaskGroup(of: Void.self) { group in
            // A handler that hangs must not delay the signals that end the service.
            group.addTask {
                for await signal in handled {
                    // A stream that has ended still returns the signals that wait.
                    try Task.checkCancellation()
                    try await self.handlers[signal]?()
                }
            }
            group.addTask {
                for try await signal in signals.cancelOnGracefulShutdown() {
                    if self.ending.contains(signal) { return }
                    queue.yield(signal)
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
#endif

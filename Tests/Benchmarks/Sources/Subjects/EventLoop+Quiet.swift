internal import Logging
public import WaybillEventLoop

extension EventLoop {
    /// Creates a loop whose watchdog does not log that a measurement holds the loop.
    public static func quiet(_ name: String, idlePolicy: IdlePolicy = .park) -> EventLoop {
        var logger = Logger(label: "benchmarks")
        logger.logLevel = .critical
        return EventLoop(name: name, configuration: .init(idlePolicy: idlePolicy, logger: logger))
    }
}

internal import Logging
public import WaybillEventLoop

extension EventLoop {
    /// A loop as anybody has it, whose watchdog keeps to itself that a measurement holds the loop.
    public static func quiet(_ name: String, idlePolicy: IdlePolicy = .park) -> EventLoop {
        var logger = Logger(label: "benchmarks")
        logger.logLevel = .critical
        return EventLoop(name: name, configuration: .init(idlePolicy: idlePolicy, logger: logger))
    }
}

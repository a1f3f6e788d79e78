public import Waybill

extension MessageBus {
    /// Creates a bus with its own loops, whose deadlines and timers use a clock that the test advances.
    ///
    /// - Parameters:
    ///   - clock: The clock.
    ///   - eventLoops: The number of loops; at least one is created.
    ///   - configuration: The configuration of the bus.
    public convenience init(
        clock: ManualClock,
        eventLoops: Int = 1,
        configuration: Configuration = .init()
    ) {
        self.init(
            eventLoops: (0..<max(1, eventLoops)).map { clock.makeEventLoop(name: "testing-\($0)") },
            configuration: configuration
        )
    }
}

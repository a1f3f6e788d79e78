public import Waybill

extension MessageBus {
    /// Makes a bus on loops of its own whose deadlines and timers go by a clock that the test advances.
    ///
    /// - Parameters:
    ///   - clock: what the time is had from.
    ///   - eventLoops: how many loops, at least one.
    ///   - configuration: how the bus behaves.
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

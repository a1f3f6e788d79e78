public import Logging

extension EventLoop {
    /// The settings of a loop; the defaults were chosen by measurement.
    public struct Configuration: Sendable {
        /// The policy of the loop while it has no work.
        public var idlePolicy: IdlePolicy

        /// The longest time that the loop runs jobs before it polls for I/O and timers again.
        public var timeSlice: Duration

        /// The time that one job may hold the loop before a warning is logged; nil to disable the watchdog.
        public var watchdogThreshold: Duration?

        /// The logger of the loop.
        public var logger: Logger

        /// The source of the time that timers read; only tests replace the system's time.
        package var time = TimeSource.system

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - idlePolicy: The policy of the loop while it has no work.
        ///   - timeSlice: The longest time that the loop runs jobs before it polls for I/O and timers again.
        ///   - watchdogThreshold: The time that one job may hold the loop before a warning is logged; nil to
        ///     disable the watchdog.
        ///   - logger: The logger of the loop.
        public init(
            idlePolicy: IdlePolicy = .park,
            timeSlice: Duration = .microseconds(250),
            watchdogThreshold: Duration? = .milliseconds(100),
            logger: Logger = Logger(label: "waybill.event-loop")
        ) {
            self.idlePolicy = idlePolicy
            self.timeSlice = timeSlice
            self.watchdogThreshold = watchdogThreshold
            self.logger = logger
        }
    }
}

/// A policy for a loop that has no work.
///
/// A sleeping thread takes tens of microseconds to wake. A loop that spins before it sleeps answers within
/// one or two microseconds, but it uses a whole core meanwhile. Spinning pays off when an answer is expected
/// soon and a core is free.
public struct IdlePolicy: Hashable, Sendable {
    package let nanoseconds: Int64

    /// Sleeps at once.
    public static let park = Self(nanoseconds: 0)

    /// Polls for work during a period, then sleeps.
    ///
    /// - Parameter duration: The period, counted from the end of the last work. Spinning does not delay
    ///   timers.
    /// - Returns: The policy.
    public static func spin(for duration: Duration) -> Self {
        Self(nanoseconds: max(0, duration.wholeNanoseconds))
    }
}

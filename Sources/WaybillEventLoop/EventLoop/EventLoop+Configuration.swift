public import Logging

extension EventLoop {
    /// How a loop behaves; every value has a default that was chosen by measurement.
    public struct Configuration: Sendable {
        /// What the loop does when it has nothing to do.
        public var idlePolicy: IdlePolicy

        /// How long the loop runs jobs before it looks at I/O and timers again.
        public var timeSlice: Duration

        /// How long one job may hold the loop before that is logged; nil to never look.
        public var watchdogThreshold: Duration?

        /// Where the loop logs.
        public var logger: Logger

        /// The time that timers read; only tests set another than the system's.
        package var time = TimeSource.system

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - idlePolicy: What the loop does when it has nothing to do.
        ///   - timeSlice: How long the loop runs jobs before it looks at I/O and timers again.
        ///   - watchdogThreshold: How long one job may hold the loop before that is logged; nil to never
        ///     look.
        ///   - logger: Where the loop logs.
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

/// What a loop does when it has nothing to do.
///
/// A thread that sleeps takes tens of microseconds to wake. A loop that spins first answers within one or
/// two, and burns a core meanwhile: worth it when an answer is on its way and a core is free.
public struct IdlePolicy: Hashable, Sendable {
    package let nanoseconds: Int64

    /// Sleeps at once.
    public static let park = Self(nanoseconds: 0)

    /// Looks for work for a while, then sleeps.
    ///
    /// - Parameter duration: How long to look after the last work was done. Timers are not late for it.
    /// - Returns: The policy.
    public static func spin(for duration: Duration) -> Self {
        Self(nanoseconds: max(0, duration.wholeNanoseconds))
    }
}

extension EventLoop {
    /// What a loop has done and has still to do, at one moment.
    public struct Statistics: Hashable, Sendable {
        /// Jobs, closures and timers that have been started.
        public let jobsRun: Int

        /// Jobs and closures that wait to be run.
        public let queueDepth: Int

        /// Timers that wait for their time; each sleeper is one.
        public let pendingTimers: Int

        /// How long the loop had nothing to do since it was created, asleep or spinning.
        public let idleTime: Duration
    }

    /// What the loop has done and has still to do; from any thread, without stopping the loop.
    public var statistics: Statistics {
        let counters = self.core.counters.snapshot()
        let pushes = self.core.inbox.pushCount &+ counters.localPushes
        return Statistics(
            jobsRun: Int(clamping: counters.runs),
            // The counts are read one after the other, and the loop goes on meanwhile.
            queueDepth: max(0, Int(bitPattern: pushes &- counters.pops)),
            pendingTimers: counters.timers,
            idleTime: .nanoseconds(counters.idle)
        )
    }
}

#if !WAYBILL_PUBLIC_API_ONLY
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

// When a task calls `Task.sleep`, the runtime asks the executor of the task to resume the task later. Only a
// simulated loop schedules the resumption itself, because its time is not the time of the system. Every other
// loop passes the job to the default executor, as the runtime does for an executor that cannot schedule.
//
// The runtime looks for this conformance dynamically.
@_spi(ExperimentalScheduling)
extension EventLoop: SchedulingExecutor {
    /// Runs a job when a duration has passed; the runtime calls this method.
    public func enqueue<Timer: Clock>(
        _ job: consuming ExecutorJob,
        after delay: Timer.Duration,
        tolerance: Timer.Duration?,
        clock: Timer
    ) {
        self.core.schedule(job, after: delay, tolerance: tolerance, clock: clock, as: .actorJob)
    }

    /// Runs a job at an instant; the runtime calls this method.
    public func enqueue<Timer: Clock>(
        _ job: consuming ExecutorJob,
        at instant: Timer.Instant,
        tolerance: Timer.Duration?,
        clock: Timer
    ) {
        let delay = clock.now.duration(to: instant)
        self.core.schedule(job, after: delay, tolerance: tolerance, clock: clock, as: .actorJob)
    }
}

@_spi(ExperimentalScheduling)
extension EventLoopTaskExecutor: SchedulingExecutor {
    /// Runs a job when a duration has passed; the runtime calls this method.
    public func enqueue<Timer: Clock>(
        _ job: consuming ExecutorJob,
        after delay: Timer.Duration,
        tolerance: Timer.Duration?,
        clock: Timer
    ) {
        self.eventLoop.core.schedule(job, after: delay, tolerance: tolerance, clock: clock, as: .taskJob)
    }

    /// Runs a job at an instant; the runtime calls this method.
    public func enqueue<Timer: Clock>(
        _ job: consuming ExecutorJob,
        at instant: Timer.Instant,
        tolerance: Timer.Duration?,
        clock: Timer
    ) {
        let delay = clock.now.duration(to: instant)
        self.eventLoop.core.schedule(job, after: delay, tolerance: tolerance, clock: clock, as: .taskJob)
    }
}

extension LoopCore {
    fileprivate func schedule<Timer: Clock>(
        _ job: consuming ExecutorJob,
        after delay: Timer.Duration,
        tolerance: Timer.Duration?,
        clock: Timer,
        as kind: WorkItem.Kind
    ) {
        guard self.host == .simulated, let time = self.configuration.time.manual,
            let duration = delay as? Duration
        else {
            guard let executor = Task.defaultExecutor as? any SchedulingExecutor else {
                preconditionFailure("the default executor of this program cannot schedule a job")
            }
            return executor.enqueue(job, after: delay, tolerance: tolerance, clock: clock)
        }
        let work = UnownedJob(job)
        let deadline = Deadline(after: duration, by: self.configuration.time)
        // The alarm has a strong reference to the core, because the job must run if the time comes.
        time.schedule(at: deadline) { self.submit(WorkItem(work, as: kind)) }
    }
}
#endif

/// A timer for the deadline of a waiting task.
package enum DeadlineWatch: Sendable {
    case timer(ScheduledTimer)
    case alarm(Timekeeper.Alarm)
    case manual(ManualTime.Alarm)

    /// Calls `body` when the deadline has passed.
    ///
    /// `body` must have no effect when the task no longer waits. The timer of `loop` watches the deadline
    /// while the loop runs. `loop` is nil when the waiting task is not on a loop.
    package init(
        _ deadline: Deadline,
        by time: TimeSource,
        on loop: EventLoop?,
        _ body: @escaping @Sendable () -> Void
    ) {
        // A timer follows the system's clock, unless its loop is simulated. The timers of a simulated loop end
        // with the loop, like the timers of a process.
        guard let loop, !loop.isShutDown, time.manual == nil || loop.isSimulated else {
            self =
                time.manual.map { .manual($0.schedule(at: deadline, body)) }
                ?? .alarm(Self.timekeeper.schedule(at: deadline, body))
            return
        }
        self = .timer(
            loop.schedule(
                at: deadline,
                orAtShutDown: { event in
                    switch event {
                    case .due: body()
                    case .shutDown: Self.timekeeper.schedule(at: deadline, body)
                    }
                }
            )
        )
    }

    /// Stops watching the deadline, unless it has passed.
    package func cancel() {
        switch self {
        case .timer(let timer): timer.cancel()
        case .alarm(let alarm): alarm.cancel()
        case .manual(let alarm): alarm.cancel()
        }
    }

    /// The timekeeper for callers that are not on a running loop.
    package static let timekeeper = Timekeeper(name: "waybill-deadlines")
}

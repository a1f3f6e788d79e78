internal import WaybillEventLoop

/// What watches the deadline of a waiting task.
enum DeadlineWatch: Sendable {
    case timer(ScheduledTimer)
    case alarm(Timekeeper.Alarm)
    case manual(ManualTime.Alarm)

    /// Watches a deadline.
    ///
    /// - Parameters:
    ///   - deadline: the latest that something may come.
    ///   - time: what the deadline goes by; one that is advanced by hand watches it itself.
    ///   - loop: the loop whose timer watches it, for as long as that loop runs; nil if the waiting task is
    ///     on no loop of the bus.
    ///   - body: what is done when it has passed; it must do nothing if it comes too late.
    init(
        _ deadline: Deadline,
        by time: TimeSource,
        on loop: EventLoop?,
        _ body: @escaping @Sendable () -> Void
    ) {
        if let time = time.manual {
            self = .manual(time.schedule(at: deadline, body))
            return
        }
        guard let loop, !loop.isShutDown else {
            self = .alarm(Self.timekeeper.schedule(at: deadline, body))
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

    func cancel() {
        switch self {
        case .timer(let timer): timer.cancel()
        case .alarm(let alarm): alarm.cancel()
        case .manual(let alarm): alarm.cancel()
        }
    }

    /// Watches the deadlines of callers that are on no loop of a bus, or on one that has stopped; made when
    /// the first one has a deadline.
    static let timekeeper = Timekeeper(name: "waybill-deadlines")
}

internal import WaybillEventLoop
internal import WaybillRouting

extension Exchange {
    /// What watches the deadline of an exchange.
    enum Watch: Sendable {
        case timer(ScheduledTimer)
        case alarm(Timekeeper.Alarm)

        func cancel() {
            switch self {
            case .timer(let timer): timer.cancel()
            case .alarm(let alarm): alarm.cancel()
            }
        }
    }

    /// Ends the exchange when its deadline passes.
    ///
    /// - Parameters:
    ///   - deadline: the latest that a reply may come.
    ///   - loop: whose timer watches it, for as long as that loop runs; nil if the caller is on no loop of the bus.
    func expire(at deadline: Deadline, on loop: EventLoop?) {
        guard let loop, !loop.isShutDown else { return self.expireAnywhere(at: deadline) }
        let timer = loop.schedule(
            at: deadline,
            orAtShutDown: { event in
                switch event {
                case .due: self.expire()
                case .shutDown: if !self.isOver { self.expireAnywhere(at: deadline) }
                }
            }
        )
        self.bind(watch: .timer(timer))
    }

    private func expireAnywhere(at deadline: Deadline) {
        self.bind(watch: .alarm(Self.timekeeper.schedule(at: deadline) { self.expire() }))
    }

    private func expire() { self.finish(.failed(.deadlineExceeded(url: self.url))) }

    /// Watches the deadlines of callers that are on no loop of a bus, or on one that has stopped; made when the first one
    /// has a deadline.
    static let timekeeper = Timekeeper(name: "waybill-deadlines")
}

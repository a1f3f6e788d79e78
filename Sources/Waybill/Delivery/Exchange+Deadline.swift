internal import WaybillEventLoop
internal import WaybillRouting

extension Exchange {
    /// Ends the exchange when its deadline passes.
    ///
    /// - Parameters:
    ///   - deadline: the latest that a reply may come.
    ///   - loop: whose timer watches it, for as long as that loop runs.
    func expire(at deadline: Deadline, on loop: EventLoop) {
        let loop = loop.isShutDown ? Self.timekeeper : loop
        let timer = loop.schedule(
            at: deadline,
            orAtShutDown: { event in
                switch event {
                case .due: self.finish(.failed(.deadlineExceeded(url: self.url)))
                case .shutDown: if !self.isOver { self.expire(at: deadline, on: Self.timekeeper) }
                }
            }
        )
        self.bind(timer: timer)
    }

    /// Watches the deadlines of callers that are on no loop of a bus, or on one that has stopped; made when the first one
    /// has a deadline.
    static let timekeeper = EventLoop(name: "waybill-deadlines")
}

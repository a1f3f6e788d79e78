internal import WaybillEventLoop
internal import WaybillRouting

extension Exchange {
    /// Ends the exchange when its deadline passes.
    ///
    /// - Parameters:
    ///   - deadline: the latest that a reply may come.
    ///   - loop: whose timer watches it, for as long as that loop runs; nil if the caller is on no loop of the bus.
    func expire(at deadline: Deadline, on loop: EventLoop?) {
        let watch = DeadlineWatch(deadline, by: self.core.time, on: loop) {
            self.finish(.failed(.deadlineExceeded(url: self.url)))
        }
        self.bind(watch: watch)
    }
}

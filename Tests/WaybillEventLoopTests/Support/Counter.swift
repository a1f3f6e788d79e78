internal import WaybillEventLoop

/// An actor on a loop that counts its calls, and checks that it runs on its loop.
actor Counter: LoopBound {
    let eventLoop: EventLoop
    private(set) var count = 0

    init(eventLoop: EventLoop) {
        self.eventLoop = eventLoop
    }

    @discardableResult
    func increment() -> Int {
        self.eventLoop.preconditionInEventLoop()
        self.count += 1
        return self.count
    }

    /// Calls another actor repeatedly.
    func increment(_ other: Counter, times: Int) async {
        for _ in 0..<times { await other.increment() }
    }
}

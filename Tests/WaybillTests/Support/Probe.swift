internal import Waybill
internal import WaybillEventLoop

/// A module that insists on its loop and remembers what it was told.
actor Probe: LoopBound {
    let eventLoop: EventLoop
    private(set) var heard: [Int] = []

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    @discardableResult
    func hear(_ number: Int) -> Int {
        self.eventLoop.preconditionInEventLoop()
        self.heard.append(number)
        return number
    }

    /// Runs code on the loop, as a module does that acts by itself.
    @discardableResult
    func act<Value: Sendable>(
        _ body: @Sendable (isolated Probe) async throws -> Value
    ) async rethrows -> Value {
        try await body(self)
    }
}

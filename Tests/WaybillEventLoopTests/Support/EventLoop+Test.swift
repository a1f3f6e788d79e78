internal import WaybillEventLoop

extension EventLoop {
    /// Runs a closure on the loop and waits for what it returns.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            self.execute { continuation.resume(returning: body()) }
        }
    }
}

package import WaybillEventLoop

/// A module that checks that it runs on its loop, and records the numbers that it receives.
package actor Probe: LoopBound {
    package nonisolated let eventLoop: EventLoop
    package private(set) var heard: [Int] = []

    package init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    @discardableResult
    package func hear(_ number: Int) -> Int {
        self.eventLoop.preconditionInEventLoop()
        self.heard.append(number)
        return number
    }

    /// Runs code on the loop without access to the module.
    ///
    /// The closure has no capture list, because Swift 6.3 would run a closure with one on the global
    /// executor.
    @discardableResult
    package func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async rethrows -> Value {
        // Without this call, the compiler (6.3) does not hop to the loop before it calls `body`.
        self.eventLoop.preconditionInEventLoop()
        return try await body()
    }

    /// Runs code of the module.
    ///
    /// The code must use the module, because Swift 6.3 would otherwise run it on the global executor.
    @discardableResult
    package func act<Value: Sendable>(
        _ body: @Sendable (isolated Probe) async throws -> Value
    ) async rethrows -> Value {
        self.eventLoop.preconditionInEventLoop()
        return try await body(self)
    }
}

/// A task-local value like the ones that tracing uses.
package enum Context {
    @TaskLocal package static var name = "none"
}

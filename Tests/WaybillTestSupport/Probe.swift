package import WaybillEventLoop

/// A module that insists on its loop and remembers what it was told.
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

    /// Runs code on the loop that knows nothing of the module.
    ///
    /// Without a capture list: a closure that has one would leave for the global executor (Swift 6.3).
    @discardableResult
    package func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async rethrows -> Value {
        // Without this the compiler (6.3) sees no need to go to the loop before it calls what comes.
        self.eventLoop.preconditionInEventLoop()
        return try await body()
    }

    /// Runs code of the module; it has to mention the module, or it would leave for the global executor (Swift 6.3).
    @discardableResult
    package func act<Value: Sendable>(
        _ body: @Sendable (isolated Probe) async throws -> Value
    ) async rethrows -> Value {
        self.eventLoop.preconditionInEventLoop()
        return try await body(self)
    }
}

/// A task-local value, as tracing would have one.
package enum Context {
    @TaskLocal package static var name = "none"
}

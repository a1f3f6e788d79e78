extension EventLoop {
    /// The loop that the calling thread runs, or nil.
    public static var current: EventLoop? {
        unsafe CurrentLoop.core.flatMap { core in unsafe core._withUnsafeGuaranteedRef { $0.loop } }
    }

    /// Whether the calling thread runs this loop; costs about as much as a function call.
    public var isInEventLoop: Bool { self.core.isOnThread }

    /// Traps unless the calling thread runs this loop.
    ///
    /// - Parameters:
    ///   - message: What to say when it does not.
    ///   - file: The file to blame.
    ///   - line: The line to blame.
    public func preconditionInEventLoop(
        _ message: @autoclosure () -> String = "",
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        guard !self.isInEventLoop else { return }
        preconditionFailure("not on the event loop \"\(self.name)\" \(message())", file: file, line: line)
    }

    /// Runs a closure on the loop, after what is queued already.
    ///
    /// It runs exactly once, also if the loop shuts down before. It may be called from any thread, the loop's own
    /// included, and does not wait.
    ///
    /// - Parameter body: What to run on the loop's thread.
    public func execute(_ body: @escaping @Sendable () -> Void) {
        self.core.submit(WorkItem(body))
    }
}

internal import CLibUV

extension EventLoop {
    /// Creates a loop that a host drives from a loop of its own, which need not be libuv's.
    ///
    /// The host polls ``backendDescriptor`` for reading, for ``backendTimeout`` at most, and then calls
    /// ``dispatch()``; all on the thread that creates the loop.
    ///
    /// - Parameters:
    ///   - name: A name for logs.
    ///   - configuration: How the loop behaves; one that spins while idle holds the host.
    /// - Returns: The loop; nothing runs before it is dispatched.
    /// - Throws: ``EventLoopError`` with the code `system` if the system has no file descriptor left.
    package static func driven(
        name: String? = nil,
        configuration: Configuration = .init(idlePolicy: .park)
    ) throws(EventLoopError) -> EventLoop {
        let core = try LoopCore(
            name: name ?? LoopCore.defaultName,
            host: .driven,
            on: UVLoop(),
            configuration: configuration
        )
        _ = core.lifecycle.attach()
        core.enter()
        return EventLoop(core: core)
    }

    /// The descriptor that is readable when the loop has something to do.
    package var backendDescriptor: Int32 { self.core.uv.backendDescriptor }

    /// How many milliseconds the host may wait for the descriptor; -1 for any time.
    package var backendTimeout: Int32 { self.core.backendTimeout }

    /// Does what is due, without waiting.
    package func dispatch() { self.core.dispatch() }

    /// Has a closure called when every handle has been closed, on the loop's thread; in the last callback of
    /// libuv, so that a host's `uv_run` has yet to return.
    package func onClosed(_ body: @escaping @Sendable () -> Void) { self.core.lifecycle.onClosed(body) }
}

extension LoopCore {
    /// How often libuv is run again because the set of watched descriptors has changed.
    private static let passes = 8

    fileprivate var backendTimeout: Int32 {
        // Awake, the loop has work, or is about to be driven for the first time; a push would not signal it.
        guard unsafe self.state.pointee.parkedAt != nil, !self.uv.hasNewWatchers else { return 0 }
        return self.uv.backendTimeout
    }

    fileprivate func dispatch() {
        precondition(self.host == .driven && self.isOnThread, "a loop is driven by the thread that made it")
        self.unpark(at: MonotonicTime.now)
        // libuv hands a new watcher to the kernel when it polls, and in this pass it has polled already.
        for _ in 0..<Self.passes {
            self.uv.runOnce()
            if self.lifecycle.isClosed { return self.uv.close() }
            if !self.uv.hasNewWatchers { break }
        }
        self.armTimer()
        self.parkIfIdle()
    }
}

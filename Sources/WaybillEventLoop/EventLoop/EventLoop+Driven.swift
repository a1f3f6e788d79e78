internal import CLibUV

extension EventLoop {
    /// Creates a loop that another event loop of any kind drives.
    ///
    /// The other event loop is called the host. The host waits until ``backendDescriptor`` is readable, for
    /// at most ``backendTimeout``, and then calls ``dispatch()``. Every call must come from the thread that
    /// creates the loop.
    ///
    /// - Parameters:
    ///   - name: A name for logs.
    ///   - configuration: The settings of the loop. A loop that spins while idle blocks the host.
    /// - Returns: The loop. It runs no work before the first call of ``dispatch()``.
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

    /// The descriptor that becomes readable when the loop has work.
    package var backendDescriptor: Int32 { self.core.uv.backendDescriptor }

    /// The longest time that the host may wait for the descriptor, in milliseconds; -1 for no limit.
    package var backendTimeout: Int32 { self.core.backendTimeout }

    /// Runs the work that is due, without waiting.
    package func dispatch() { self.core.dispatch() }

    /// Calls a closure when every handle has been closed.
    ///
    /// The closure runs on the loop's thread, within libuv's last callback, so the host's call of `uv_run`
    /// has not returned yet. If the loop is closed already, the closure runs at once, in the calling thread.
    package func onClosed(_ body: @escaping @Sendable () -> Void) { self.core.lifecycle.onClosed(body) }
}

extension LoopCore {
    /// The maximum number of passes of libuv in one dispatch.
    ///
    /// A pass is repeated when libuv has to watch new descriptors.
    private static let passes = 8

    fileprivate var backendTimeout: Int32 {
        // A loop that is not parked has work, or waits for its first dispatch. An item that is enqueued on it
        // does not signal the descriptor, so the host must not wait.
        guard unsafe self.state.pointee.parkedAt != nil, !self.uv.hasNewWatchers else { return 0 }
        return self.uv.backendTimeout
    }

    fileprivate func dispatch() {
        precondition(
            self.host == .driven && self.isOnThread,
            "a driven event loop must be dispatched on the thread that created it"
        )
        self.unpark(at: MonotonicTime.now)
        // libuv registers a new watcher with the kernel when it polls, and this pass has polled already.
        for _ in 0..<Self.passes {
            self.uv.runOnce()
            if self.lifecycle.isClosed { return self.uv.close() }
            if !self.uv.hasNewWatchers { break }
        }
        self.armTimer()
        self.parkIfIdle()
    }
}

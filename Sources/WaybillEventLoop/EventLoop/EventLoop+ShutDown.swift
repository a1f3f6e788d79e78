extension EventLoop {
    /// Whether the loop has been asked to shut down, by whatever way.
    public var isShutDown: Bool { self.core.lifecycle.isRequested }

    /// Shuts the loop down and waits until every handle is closed.
    ///
    /// Whoever sleeps on the loop's clock or waits for a signal gets an ``EventLoopError`` with the code `shutDown`. Jobs
    /// still run, on a thread that is started for them, one at a time and with ``isInEventLoop`` true: no task hangs.
    ///
    /// May be called from any context, the loop itself included, and as often as wanted. For an adopted loop it returns
    /// once the host has run its loop.
    public func shutDown() async {
        await Self.yieldIfDue()
        self.beginShutDown()
        await withCheckedContinuation { self.core.lifecycle.wait($0) }
    }

    /// Asks the loop to shut down and does not wait; see ``shutDown()``.
    public func beginShutDown() { self.core.requestShutDown() }

    /// Has a closure run when the loop begins to shut down, to fail what waits on it.
    ///
    /// It runs once, on the loop's thread, before the handles close; if the loop has begun already it runs as soon as
    /// it can.
    ///
    /// - Returns: What takes it back.
    @discardableResult
    package func onShutDown(_ body: @escaping @Sendable () -> Void) -> ShutDownHook {
        let id = self.core.lifecycle.addHook(body)
        if id == nil { self.execute(body) }
        return ShutDownHook(core: self.core, id: id)
    }
}

/// A closure that waits for a loop's end.
package struct ShutDownHook: Sendable {
    let core: LoopCore
    let id: UInt64?

    /// Forgets the closure, unless its time has come.
    package func cancel() {
        if let id = self.id { self.core.lifecycle.removeHook(id) }
    }
}

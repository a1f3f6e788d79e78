#if os(Linux)
internal import CLibUV
internal import Dispatch
internal import Glibc

extension EventLoop {
    /// Runs the loop on the main thread until it has shut down, and the main actor on the loop's thread.
    ///
    /// For a program whose `@MainActor` code shall share a thread with the modules of a bus: what is isolated
    /// to the main actor runs between the jobs and the I/O of the loop, and a call from one to the other does
    /// not change the thread. The loop is one that ``onCallingThread(name:configuration:)`` has made, and
    /// `main` is not `async`: an asynchronous one gives the main thread away before its first line.
    ///
    /// ```swift
    /// let loop = EventLoop.onCallingThread(name: "main")
    /// Task { @MainActor in
    ///     try await Task.sleep(for: .milliseconds(10))
    ///     loop.preconditionInEventLoop()
    ///     loop.beginShutDown()
    /// }
    /// loop.runServingMainActor()
    /// ```
    ///
    /// When it returns, what the main actor had to do by then is done; what is left to it later does not run
    /// unless the program serves the main queue itself.
    ///
    /// Traps if another thread runs the loop, or if the calling thread is not the main one.
    @MainActor
    public func runServingMainActor() {
        precondition(waybill_is_main_thread() != 0, "the main actor is served by the main thread alone")
        self.core.submit(WorkItem { self.core.serveMainQueue() })
        self.run()
        _dispatch_main_queue_callback_4CF(nil)
    }
}

extension LoopCore {
    /// Begins to run what the main queue holds, on the loop's thread.
    fileprivate func serveMainQueue() {
        guard unsafe self.state.pointee.handles != nil else { return }
        let descriptor = _dispatch_get_main_queue_handle_4CF()
        do throws(EventLoopError) {
            let handle = try PollHandle(on: self.uv, descriptor: descriptor) {
                var count: UInt64 = 0
                _ = unsafe read(descriptor, &count, 8)
                _dispatch_main_queue_callback_4CF(nil)
            }
            handle.start()
            unsafe self.state.pointee.mainQueue = handle
        } catch {
            // The main actor would never run.
            fatalError("the main queue cannot be watched: \(error)")
        }
    }

    /// Leaves the main queue alone: the loop shuts down.
    func endMainQueue() {
        guard let handle = unsafe self.state.pointee.mainQueue.take() else { return }
        unsafe self.state.pointee.openHandles += 1
        handle.close { self.handleClosed() }
    }
}
#else
extension LoopCore {
    func endMainQueue() {}
}
#endif

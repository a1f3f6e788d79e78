#if os(Linux)
internal import CLibUV
internal import Dispatch
internal import Glibc

#if WAYBILL_PUBLIC_API_ONLY
internal import Foundation
#endif

extension EventLoop {
    /// Runs the loop on the main thread until it has shut down, and runs the main actor on the loop's thread.
    ///
    /// Use this method in a program whose `@MainActor` code shares a thread with the modules of a bus.
    /// Main-actor code runs between the jobs and the I/O of the loop. A call between main-actor code and a
    /// module does not switch threads.
    ///
    /// Create the loop with ``onCallingThread(name:configuration:)``. The program's `main` must not be
    /// `async`: an asynchronous `main` gives up the main thread before its first line.
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
    /// Before this method returns, it runs the jobs that are then in the main actor's queue. Jobs that the
    /// main actor receives later do not run unless the program serves the main queue itself.
    ///
    /// Traps if another thread runs the loop, or if the calling thread is not the main thread.
    @MainActor
    public func runServingMainActor() {
        precondition(
            waybill_is_main_thread() != 0,
            "`runServingMainActor()` must be called on the main thread"
        )
        self.execute { self.core.serveMainQueue() }
        self.run()
        LoopCore.runMainQueue()
    }
}

#if WAYBILL_PUBLIC_API_ONLY

extension LoopCore {
    /// Runs the jobs of the main queue every 2 milliseconds, until the loop shuts down.
    ///
    /// No public function reports whether the main queue has work. The run loop of Foundation runs the work.
    fileprivate func serveMainQueue() {
        Self.runMainQueue()
        let deadline = Deadline(after: .milliseconds(2), by: self.configuration.time)
        self.loop?.schedule(at: deadline) { self.serveMainQueue() }
    }

    fileprivate static func runMainQueue() { _ = RunLoop.main.run(mode: .default, before: .distantPast) }

    func endMainQueue() {}
}

#else

extension LoopCore {
    /// Starts to run the jobs of the main queue on the loop's thread.
    fileprivate func serveMainQueue() {
        guard unsafe self.state.pointee.handles != nil else { return }
        let descriptor = _dispatch_get_main_queue_handle_4CF()
        do throws(EventLoopError) {
            let handle = try PollHandle(on: self.uv, descriptor: descriptor) {
                var count: UInt64 = 0
                _ = unsafe read(descriptor, &count, 8)
                Self.runMainQueue()
            }
            handle.start()
            unsafe self.state.pointee.mainQueue = handle
        } catch {
            // Without the watcher the main actor would never run.
            fatalError(
                "the event loop cannot watch the main queue, so the main actor would never run: \(error)"
            )
        }
    }

    fileprivate static func runMainQueue() { _dispatch_main_queue_callback_4CF(nil) }

    /// Stops watching the main queue when the loop shuts down.
    func endMainQueue() {
        guard let handle = unsafe self.state.pointee.mainQueue.take() else { return }
        unsafe self.state.pointee.openHandles += 1
        handle.close { self.handleClosed() }
    }
}

#endif
#else
extension LoopCore {
    func endMainQueue() {}
}
#endif

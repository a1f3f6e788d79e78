internal import Synchronization

/// An event loop without a thread, for a simulation.
///
/// The simulation takes the loop's work and runs it in an order that the simulation chooses. Every method
/// must be called on the thread that created the loop. Between two pieces of work no thread runs the loop, so
/// all work is enqueued through the loop's inbox.
@safe
package final class SimulatedLoop: Sendable {
    /// A job or a closure that waits to run on the loop.
    package struct Work {
        fileprivate let item: WorkItem

        /// Whether the work is a closure.
        ///
        /// The library relies on the order in which the closures of one loop run, so a simulation must keep
        /// that order. Jobs of tasks may run in any order.
        package var isClosure: Bool { self.item.kind == .closure }

        fileprivate init(item: WorkItem) { self.item = item }

        /// Creates work from a job that the runtime was about to run on the default executor.
        ///
        /// - Parameter job: The address of the job, which must not be enqueued elsewhere.
        @unsafe
        package init(job: UnsafeMutableRawPointer) {
            self.item = WorkItem(unsafe unsafeBitCast(job, to: UnownedJob.self), as: .taskJob)
        }

        /// The address of the job; nil for a closure.
        package var job: UnsafeMutableRawPointer? { unsafe self.isClosure ? nil : self.item.address }
    }

    /// The loop.
    package let eventLoop: EventLoop
    /// The executor of tasks on the loop.
    package let executor: EventLoopTaskExecutor
    private let core: LoopCore

    /// Creates a loop whose timers follow a time that the simulation advances.
    package init(name: String, time: ManualTime) {
        // The budget of deliveries is set for each piece of work. With a time slice of zero, the budget never
        // refills itself.
        var configuration = EventLoop.Configuration(timeSlice: .zero, watchdogThreshold: nil)
        configuration.time = TimeSource(manual: time)
        self.core = .make(name: name, host: .simulated, configuration: configuration)
        _ = self.core.lifecycle.attach()
        self.eventLoop = EventLoop(core: self.core)
        // The loop has only a weak reference to its own executor, which makes each retain of that executor
        // slower.
        self.executor = EventLoopTaskExecutor(eventLoop: self.eventLoop)
    }

    /// Whether another thread has enqueued work since ``acceptForeignWork()`` was called.
    package var hasForeignWork: Bool { self.core.hasForeignWork.load(ordering: .relaxed) }

    /// Resets ``hasForeignWork``, so that the work from other threads counts as a part of the simulation.
    package func acceptForeignWork() { self.core.hasForeignWork.store(false, ordering: .relaxed) }

    /// Removes the work that has been enqueued, and passes each piece to a closure, oldest first.
    package func takeWork(_ body: (Work) -> Void) {
        if self.core.inbox.hasWork { self.core.takeInbox() }
        while let item = unsafe self.core.state.pointee.ready.pop() { body(Work(item: item)) }
    }

    /// Runs one piece of work.
    ///
    /// - Parameters:
    ///   - work: The work, which ``takeWork(_:)`` has passed on.
    ///   - deliveries: The number of messages that the work may deliver before it must suspend.
    package func run(_ work: Work, deliveries: Int) {
        self.enter {
            unsafe self.core.state.pointee.budget.limit(to: deliveries)
            guard work.item.kind == .taskJob else { return self.core.run(work.item) }
            // The core would run the job with the loop's own task executor.
            unsafe work.item.job.runSynchronously(
                isolatedTo: self.eventLoop.asUnownedSerialExecutor(),
                taskExecutor: self.executor.asUnownedTaskExecutor()
            )
        }
    }

    /// Runs a closure as the loop's thread would.
    package func perform(_ body: () -> Void) {
        self.enter {
            unsafe self.core.state.pointee.budget.limit(to: 1 << 40)
            body()
        }
    }

    /// Enqueues a job that the runtime was about to run on the default executor.
    ///
    /// - Parameter job: The address of the job, which must not be enqueued elsewhere.
    @unsafe
    package func enqueue(job: UnsafeMutableRawPointer) {
        self.core.submit(unsafe Work(job: job).item)
    }

    /// Releases work that ``takeWork(_:)`` has passed on, without running it.
    package func discard(_ work: Work) {
        if work.isClosure { self.enter { _ = work.item.takeBody() } }
    }

    /// Ends the loop as the end of a process would.
    ///
    /// Work that waits, and work that is enqueued later, never runs.
    ///
    /// The memory of tasks that have not ended is not released.
    package func end() {
        self.enter { self.core.abandon() }
        self.core.closeAbandoned()
    }

    /// Runs a closure that releases objects of the loop, which may have ended.
    package func release(_ body: () -> Void) {
        self.enter(body)
        self.core.discardReady()
    }

    private func enter(_ body: () -> Void) {
        let outer = CurrentLoop.enter(self.core)
        self.core.thread.store(ThreadID.current, ordering: .relaxed)
        unsafe self.core.state.pointee.isInCallback = true
        body()
        self.core.thread.store(ThreadID.none, ordering: .relaxed)
        CurrentLoop.leave(restoring: outer)
    }
}

extension LoopCore {
    /// Closes every handle without running timers, shutdown hooks or queued work.
    fileprivate func abandon() {
        _ = self.lifecycle.request()
        _ = self.lifecycle.takeHooks()
        guard let handles = unsafe self.state.pointee.handles.take() else { return }
        unsafe self.state.pointee.alarm.take()?.cancel()
        _ = unsafe self.state.pointee.timers.removeAll()
        // The tasks that read these sequences do not run any more.
        self.endSubscriptions()
        self.endStreams()
        unsafe self.state.pointee.openHandles += LoopHandles.count + 1
        handles.close { self.handleClosed() }
        self.wakeUp.close { self.handleClosed() }
    }

    /// Runs libuv until the handles are closed, and closes the queues.
    fileprivate func closeAbandoned() {
        self.uv.run()
        self.uv.close()
        // Objects that the closures release may enqueue further work.
        self.inbox.close().discard()
        self.lifecycle.close()
        self.discardReady()
    }

    /// Releases the closures that have been enqueued and will not run.
    fileprivate func discardReady() {
        let ready = unsafe self.state.pointee.ready
        unsafe self.state.pointee.ready = WorkList()
        ready.discard()
    }
}

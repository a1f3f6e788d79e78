internal import Synchronization

/// A task that waits for a stream.
///
/// The first result resumes the task, and later results are dropped. The caller may be in any context, and a
/// cancellation comes from any thread. All other events of a waiter happen on the stream's loop. A caller on
/// the loop stays on the loop.
final class StreamWaiter<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, StreamError>

    private let task: SuspendedTask
    private let wasCancelled = Atomic<Bool>(false)
    // The outcome is written once, on the loop's thread, before the task is resumed. The resumed task reads
    // it.
    private nonisolated(unsafe) var outcome: Outcome?

    private init(on loop: EventLoop?) { self.task = SuspendedTask(on: loop) }

    /// Resumes the task, on the loop's thread, unless the task has been resumed already.
    func finish(_ outcome: Outcome) {
        guard unsafe self.outcome == nil else { return }
        unsafe self.outcome = outcome
        self.task.resume()
    }

    /// Suspends the calling task until the waiter is finished.
    ///
    /// `begin` and `forget` run on the loop's thread. `begin` finishes the waiter, or stores the waiter for
    /// later. After a cancellation, `forget` removes the stored waiter.
    static nonisolated(nonsending) func wait(
        on loop: LoopCore,
        for address: StreamAddress?,
        _ begin: @escaping @Sendable (StreamWaiter) -> Void,
        forget: @escaping @Sendable (StreamWaiter) -> Void
    ) async -> Outcome {
        let waiter = StreamWaiter(on: EventLoop.current)
        await waiter.task.wait(isolation: #isolation) {
            if loop.isOnThread {
                waiter.start(address, begin)
            } else {
                loop.submit(WorkItem { waiter.start(address, begin) })
            }
        } onCancel: {
            waiter.wasCancelled.store(true, ordering: .releasing)
            loop.runOnThread {
                forget(waiter)
                waiter.finish(.failure(.cancelled(address)))
            }
        }
        guard let outcome = unsafe waiter.outcome else {
            preconditionFailure(
                "internal error: a task that waited for a socket was resumed without an outcome"
            )
        }
        return outcome
    }

    /// Calls `begin`, unless the task has been cancelled already.
    ///
    /// After a cancellation, `forget` may have run already and found no waiter to remove, so `begin` must not
    /// store the waiter.
    private func start(_ address: StreamAddress?, _ begin: (StreamWaiter) -> Void) {
        if self.wasCancelled.load(ordering: .acquiring) {
            self.finish(.failure(.cancelled(address)))
        } else {
            begin(self)
        }
    }
}

extension LoopCore {
    /// Runs a closure at once if the calling thread runs the loop, and enqueues it otherwise.
    func runOnThread(_ body: @escaping @Sendable () -> Void) {
        if self.isOnThread { body() } else { self.submit(WorkItem(body)) }
    }
}

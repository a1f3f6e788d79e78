internal import Testing
internal import WaybillTestSupport
@_spi(ExperimentalCustomExecutors) internal import _Concurrency

@testable internal import WaybillEventLoop

struct WorkItemTests {
    /// Receives the first job of a task, and inspects it.
    private final class Catcher: TaskExecutor {
        let offsets = Journal<Int>()

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let start = unsafe UInt(bitPattern: WorkItem(job, as: .taskJob).address)
            let offset = unsafe ExecutorJob(job).withUnsafeExecutorPrivateData { words in
                UInt(bitPattern: words.baseAddress) - start
            }
            self.offsets.add(Int(offset))
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    @Test
    func `a work item stores its link in the words of a job that executors may use`() async {
        let catcher = Catcher()
        await Task(executorPreference: catcher) {}.value
        #expect(catcher.offsets.entries.first == WorkItem.linkOffset)
    }

    @Test
    func `a work item returns its closure once`() {
        let count = Locked(0)
        let item = WorkItem { count.withLock { $0 += 1 } }
        #expect(item.kind == .closure)
        item.takeBody()()
        #expect(count.withLock { $0 } == 1)
    }
}

internal import Testing

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct EventLoopTaskExecutorTests {
    @Test
    func `a task that prefers the loop runs on it`() async {
        let loop = EventLoop()
        let task = Task(executorPreference: loop.taskExecutor) {
            let first = loop.isInEventLoop
            await Task.yield()
            return first && loop.isInEventLoop
        }
        #expect(await task.value)
    }

    @Test
    func `a scope that prefers the loop returns to it after calls to other actors`() async {
        let loop = EventLoop()
        let (own, other) = (Counter(eventLoop: loop), Counter(eventLoop: EventLoop()))
        let stayed = await withTaskExecutorPreference(loop.taskExecutor) {
            await own.increment()
            await other.increment()
            return loop.isInEventLoop
        }
        #expect(stayed)
    }

    @Test
    func `a loop returns the same task executor each time`() {
        let loop = EventLoop()
        let executor = loop.taskExecutor
        #expect(executor === loop.taskExecutor)
        #expect(executor.eventLoop === loop)
    }

    @Test
    func `a task with a loop's executor keeps the loop alive`() async throws {
        let task = Task(executorPreference: EventLoop(name: "kept").taskExecutor) {
            try await Task.sleep(for: .milliseconds(5))
            return EventLoop.current?.name
        }
        #expect(try await task.value == "kept")
    }
}

internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

/// The runtime's flags distinguish child tasks from other tasks.
///
/// Both kinds inherit task-local values, but only a child task is awaited by the task that created it. If one
/// of these tests fails with a new toolchain, the flags have moved.
struct CurrentTaskTests {
    @Test(.needsPrivateSymbol("swift_task_getJobFlags"))
    func `an async let is a child task`() async {
        async let isChild = CurrentTask.isChild
        #expect(await isChild)
    }

    @Test(.needsPrivateSymbol("swift_task_getJobFlags"))
    func `a task of a group is a child task`() async {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { CurrentTask.isChild }
            for await isChild in group { #expect(isChild) }
        }
        await withDiscardingTaskGroup { group in
            group.addTask { #expect(CurrentTask.isChild) }
        }
    }

    @Test func `an unstructured task is not a child task`() async {
        #expect(await !Task { CurrentTask.isChild }.value)
        #expect(await !Task.detached { CurrentTask.isChild }.value)
        #expect(await !Task.immediate { CurrentTask.isChild }.value)
        async let isChild = Task { CurrentTask.isChild }.value
        #expect(await !isChild)
    }

    @Test func `each task has a number, and code outside of tasks has none`() async {
        let own = CurrentTask.id
        #expect(own != 0 && own == CurrentTask.id)
        async let other = CurrentTask.id
        #expect(await other != own)
        let loop = EventLoop()
        let outside = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: CurrentTask.id) }
        }
        #expect(outside == 0)
    }
}

internal import Testing

@testable internal import WaybillEventLoop

/// What the runtime says of a task.
///
/// Task-local state is inherited alike by tasks that their maker waits for and by those that it does not: the runtime's
/// flags tell them apart. If one of these fails after a change of toolchain, the flags have moved.
struct CurrentTaskTests {
    @Test func `an async let is a child`() async {
        async let isChild = CurrentTask.isChild
        #expect(await isChild)
    }

    @Test func `a task of a group is a child`() async {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { CurrentTask.isChild }
            for await isChild in group { #expect(isChild) }
        }
        await withDiscardingTaskGroup { group in
            group.addTask { #expect(CurrentTask.isChild) }
        }
    }

    @Test func `a task of its own is none`() async {
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

internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

/// The runtime's flags tell child tasks from others.
///
/// Both inherit task-local values, but only a child is awaited by the task that made it. If one of these
/// tests fails after a change of toolchain, the flags have moved.
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

    private final class Resident: Sendable {
        let number: Int
        let journal: Journal<Int>

        init(_ number: Int, _ journal: Journal<Int>) {
            self.number = number
            self.journal = journal
        }

        deinit { self.journal.add(self.number) }
    }

    @TaskLocal private static var resident: Resident?

    /// Binds a value around the body, as code does that runs with every message.
    private func bound<Result>(
        _ resident: Resident?,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        unsafe withUnsafeTemporaryAllocation(of: Resident?.self, capacity: 1) { memory in
            guard let value = memory.baseAddress else { return }
            unsafe value.initialize(to: resident)
            unsafe CurrentTask.bind(value, to: Self.$resident)
        }
        // All that the body binds it takes back.
        defer { unsafe CurrentTask.unbind() }
        return try await body()
    }

    @Test func `a bound value is what withValue makes of it, also for tasks inside`() async {
        let ended = Journal<Int>()
        await self.bound(Resident(1, ended)) {
            #expect(Self.resident?.number == 1)
            await Task.yield()
            async let child = Self.resident?.number
            #expect(await child == 1)
            #expect(await Task { Self.resident?.number }.value == 1)
            #expect(await Task.immediate { Self.resident?.number }.value == 1)
            #expect(await Task.detached { Self.resident?.number }.value == nil)
            await self.bound(Resident(2, ended)) {
                #expect(Self.resident?.number == 2)
                Self.$resident.withValue(nil) { #expect(Self.resident == nil) }
                #expect(Self.resident?.number == 2)
            }
            #expect(Self.resident?.number == 1)
            #expect(ended.entries == [2])
        }
        #expect(Self.resident == nil)
        // The tasks inside have their own copies of the binding, until they are destroyed.
        #expect(await eventually { ended.entries == [2, 1] })
    }

    @Test func `a binding ends with an error, and in the body of a group`() async {
        struct Failure: Error {}
        let ended = Journal<Int>()
        await #expect(throws: Failure.self) {
            try await self.bound(Resident(1, ended)) { throw Failure() }
        }
        #expect(Self.resident == nil && ended.entries == [1])
        await withTaskGroup(of: Int?.self) { group in
            await self.bound(Resident(2, ended)) { group.addTask { Self.resident?.number } }
            for await number in group { #expect(number == 2) }
        }
        #expect(await eventually { ended.entries == [1, 2] })
    }

    private final class Observer: CancellationObserver {
        let told = Journal<Int>()
        func taskIsCancelled() { self.told.add(1) }
    }

    @Test func `an observer is told of the cancellation, once, and not after it was removed`() async {
        let (cancelled, removed) = (Observer(), Observer())
        let (entered, left) = (Gate(), Gate())
        let task = Task {
            let first = unsafe CurrentTask.addCancellationObserver(removed)
            unsafe CurrentTask.removeCancellationObserver(first)
            let second = unsafe CurrentTask.addCancellationObserver(cancelled)
            entered.open()
            await left.wait()
            unsafe CurrentTask.removeCancellationObserver(second)
        }
        await entered.wait()
        #expect(cancelled.told.entries.isEmpty)
        task.cancel()
        #expect(cancelled.told.entries == [1])
        left.open()
        await task.value
        #expect(cancelled.told.entries == [1] && removed.told.entries.isEmpty)
    }

    @Test func `an observer that comes after the cancellation is told at once`() async {
        let observer = Observer()
        await Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            let record = unsafe CurrentTask.addCancellationObserver(observer)
            #expect(observer.told.entries == [1])
            unsafe CurrentTask.removeCancellationObserver(record)
        }.value
        #expect(observer.told.entries == [1])
    }
}

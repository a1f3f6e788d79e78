import Testing
import WaybillTestSupport

@testable import WaybillEventLoop

/// Waiting on a loop.
@Suite(.timeLimit(.minutes(1)))
struct LoopContinuationTests {
    @Test
    func `a continuation does not hold the value that its task has taken`() async {
        final class Resource: Sendable {}
        let continuation = LoopContinuation<Resource>(on: nil)
        weak var resource: Resource?
        do {
            let value = Resource()
            resource = value
            continuation.resume(returning: value)
            #expect(await continuation.wait() === value)
        }
        #expect(resource == nil)
        withExtendedLifetime(continuation) {}
    }

    /// An actor that waits in each of the ways that a loop offers.
    private actor Waiter: LoopBound {
        let eventLoop: EventLoop
        init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

        /// Waits repeatedly, is resumed by its own loop, and returns the number of jobs that other threads
        /// have enqueued.
        func waitAtHome(times: Int) async -> UInt {
            let before = self.eventLoop.core.inbox.pushCount
            for number in 0..<times {
                let continuation = LoopContinuation<Int>(on: self.eventLoop)
                self.eventLoop.execute { continuation.resume(returning: number) }
                #expect(await continuation.wait() == number)
                self.eventLoop.preconditionInEventLoop()
            }
            return self.eventLoop.core.inbox.pushCount - before
        }

        /// Sleeps repeatedly, and returns the number of jobs that other threads have enqueued on the loop.
        func sleep(times: Int) async throws -> UInt {
            let before = self.eventLoop.core.inbox.pushCount
            for _ in 0..<times {
                try await self.eventLoop.clock.sleep(for: .milliseconds(1))
                self.eventLoop.preconditionInEventLoop()
                try await self.eventLoop.clock.sleep(until: .now + .milliseconds(1))
                self.eventLoop.preconditionInEventLoop()
            }
            return self.eventLoop.core.inbox.pushCount - before
        }

        func wait(in continuation: LoopContinuation<String>) async -> String {
            let value = await continuation.wait()
            self.eventLoop.preconditionInEventLoop()
            return value
        }
    }

    @Test func `a loop resumes its own task without another thread`() async {
        let waiter = Waiter(eventLoop: EventLoop())
        #expect(await waiter.waitAtHome(times: 100) == 0)
    }

    @Test func `a loop wakes its own sleepers without another thread`() async throws {
        let waiter = Waiter(eventLoop: EventLoop())
        #expect(try await waiter.sleep(times: 10) == 0)
    }

    @Test func `a loop continuation can be resumed before or after the wait, from any thread`() async {
        let waiter = Waiter(eventLoop: EventLoop())
        for round in 0..<1_000 {
            let continuation = LoopContinuation<String>(on: waiter.eventLoop)
            async let value = waiter.wait(in: continuation)
            if round.isMultiple(of: 2) { await Task.yield() }
            continuation.resume(returning: "\(round)")
            #expect(await value == "\(round)")
        }
    }

    @MainActor @Test func `a task that waits without a loop returns to its actor`() async {
        for _ in 0..<100 {
            let continuation = LoopContinuation<Int>(on: nil)
            Task.detached { continuation.resume(returning: 1) }
            #expect(await continuation.wait() == 1)
            MainActor.assertIsolated()
        }
    }

    @Test func `a task that waits on a loop that has shut down is resumed`() async {
        let waiter = Waiter(eventLoop: EventLoop())
        let continuation = LoopContinuation<String>(on: waiter.eventLoop)
        async let value = waiter.wait(in: continuation)
        await waiter.eventLoop.run {}
        await waiter.eventLoop.shutDown()
        continuation.resume(returning: "late")
        #expect(await value == "late")
    }
}

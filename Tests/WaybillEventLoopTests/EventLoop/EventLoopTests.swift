internal import Foundation
internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct EventLoopTests {
    @Test
    func `closures run on the loop's thread, in the order in which they were enqueued`() async {
        let loop = EventLoop()
        let seen = Journal<Int>()
        for index in 0..<1000 {
            loop.execute {
                loop.preconditionInEventLoop()
                seen.add(index)
            }
        }
        await loop.run {}
        #expect(seen.entries == Array(0..<1000))
        #expect(!loop.isInEventLoop)
    }

    @Test
    func `a job that a closure enqueues runs after earlier jobs`() async {
        let loop = EventLoop()
        let seen = Journal<Int>()
        await loop.run {
            loop.execute {
                seen.add(1)
                loop.execute { seen.add(3) }
            }
            loop.execute { seen.add(2) }
        }
        await loop.run {}
        await loop.run {}
        #expect(seen.entries == [1, 2, 3])
    }

    @Test
    func `EventLoop.current is the loop whose thread is running`() async {
        let (first, second) = (EventLoop(name: "first"), EventLoop(name: "second"))
        #expect(EventLoop.current == nil)
        #expect(await first.run { EventLoop.current?.name } == "first")
        #expect(await second.run { EventLoop.current?.name } == "second")
        #expect(await first.run { !second.isInEventLoop && first.isInEventLoop })
    }

    @Test
    func `a loop has a default name, or the given one`() {
        #expect(EventLoop().name == "event-loop")
        #expect(EventLoop(name: "orders").name == "orders")
    }

    @Test
    func `preconditionInEventLoop traps on another thread`() async {
        await #expect(processExitsWith: .failure) {
            EventLoop(name: "other").preconditionInEventLoop("here")
        }
    }

    @Test
    func `a loop created for the calling thread runs there, beginning with earlier jobs`() async {
        let loop = EventLoop.onCallingThread(name: "mine")
        let ran = Locked(false)
        loop.execute {
            ran.withLock { $0 = true }
            #expect(EventLoop.current === loop)
            loop.beginShutDown()
        }
        #expect(!ran.withLock { $0 })
        loop.run()
        #expect(ran.withLock { $0 })
        #expect(loop.isShutDown)
        #expect(EventLoop.current == nil)
        // The loop has ended, so a second call returns at once.
        loop.run()
    }

    @Test
    func `a loop that another thread is shutting down already does not run`() async {
        let loop = EventLoop.onCallingThread()
        let isClosing = Gate()
        let hasReturned = Locked(false)
        loop.execute {
            isClosing.open()
            while !hasReturned.withLock({ $0 }) {}
        }
        // The closure would occupy a thread of the global pool.
        Thread { loop.beginShutDown() }.start()
        await isClosing.wait()
        loop.run()
        hasReturned.withLock { $0 = true }
        await loop.shutDown()
    }

    @Test
    func `a loop that never ran can be shut down, and dropped`() async {
        let loop = EventLoop.onCallingThread()
        let ran = Locked(false)
        loop.execute { ran.withLock { $0 = true } }
        await loop.shutDown()
        #expect(ran.withLock { $0 })
        _ = EventLoop.onCallingThread()
    }

    #if os(Linux)
    @Test
    func `runServingMainActor traps if the main actor has another executor`() async {
        await #expect(processExitsWith: .failure) {
            await MainActor.run { EventLoop.onCallingThread().runServingMainActor() }
        }
    }
    #endif

    @Test
    func `running a loop twice at once traps`() async {
        await #expect(processExitsWith: .failure) {
            EventLoop().run()
        }
    }
}

internal import Testing

@testable internal import WaybillEventLoop

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
internal import WaybillTestSupport
#endif

@Suite(.serialized, .timeLimit(.minutes(1)))
struct SignalSequenceTests {
    private let loop = EventLoop(name: "signals")

    @Test
    func `a signal arrives at each sequence that waits for it`() async throws {
        let first = try await self.loop.signals(.user1, .windowChange)
        let second = try await self.loop.signals(.user1)
        kill(getpid(), SIGUSR1)
        var (one, two) = (first.makeAsyncIterator(), second.makeAsyncIterator())
        #expect(try await one.next() == .user1)
        #expect(try await two.next() == .user1)
        kill(getpid(), SIGWINCH)
        #expect(try await one.next() == .windowChange)
    }

    @Test
    func `cancelling the task ends its wait for a signal`() async throws {
        let loop = self.loop
        let waiter = Task {
            for try await _ in try await loop.signals(.user1) {}
            return true
        }
        try await Task.sleep(for: .milliseconds(5))
        waiter.cancel()
        #expect(try await waiter.value)
    }

    @Test
    func `shutting down the loop ends its signal sequences, and later calls fail`() async throws {
        let loop = self.loop
        let signals = try await loop.signals(.hangUp)
        let waiter = Task { () -> EventLoopError.Code? in
            do {
                for try await _ in signals {}
                return nil
            } catch {
                return (error as? EventLoopError)?.code
            }
        }
        await loop.shutDown()
        #expect(await waiter.value == .shutDown)
        let error = await #expect(throws: EventLoopError.self) { try await loop.signals(.hangUp) }
        #expect(error?.code == .shutDown)
    }

    @Test
    func `waiting for a signal that cannot be caught fails, and leaves nothing behind`() async throws {
        let loop = self.loop
        let error = await #expect(throws: EventLoopError.self) {
            try await loop.signals(.user2, Signal(number: SIGKILL))
        }
        #expect(error?.code == .system)
        #expect(error?.message == "could not wait for signal 9: invalid argument")
        #expect(await loop.run { unsafe loop.core.state.pointee.subscriptions.isEmpty })
        #expect(await eventually { await loop.run { unsafe loop.core.state.pointee.openHandles } == 0 })
        #expect(Self.hasDefaultAction(SIGUSR2))
    }

    @Test
    func `waiting for SIGPIPE fails, because the signal must stay ignored`() async throws {
        let loop = self.loop
        _ = StreamSocket.ignoresBrokenPipe
        let error = await #expect(throws: EventLoopError.self) {
            _ = try await loop.signals(.user2, Signal(number: SIGPIPE))
        }
        #expect(error?.code == .system)
        #expect(await loop.run { unsafe loop.core.state.pointee.subscriptions.isEmpty })
        #expect(!Self.hasDefaultAction(SIGPIPE))
    }

    private static func hasDefaultAction(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        // The default action is represented by a null pointer.
        #if canImport(Darwin)
        return unsafe action.__sigaction_u.__sa_handler == nil
        #else
        return unsafe action.__sigaction_handler.sa_handler == nil
        #endif
    }

    @Test
    func `an adopted loop that waits for a signal does not keep its host running`() async throws {
        let status = try await HostThread.run { host in
            let loop = try host.adopt(name: "guest")
            let gate = Flag()
            host.startTimer(every: 1) {}
            let waiter = Task {
                let signals = try await loop.signals(.user2)
                gate.raise()
                for try await _ in signals {}
            }
            while !gate.isRaised { host.runOnce() }
            host.stopTimer()
            host.run()
            waiter.cancel()
            loop.beginShutDown()
            host.run()
            return host.close()
        }
        #expect(status == 0)
    }
}

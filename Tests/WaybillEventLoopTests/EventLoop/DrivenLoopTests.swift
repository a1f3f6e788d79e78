internal import Foundation
internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

/// A loop that a program polls together with other descriptors.
@Suite(.timeLimit(.minutes(1)))
struct DrivenLoopTests {
    /// Drives a loop on a separate thread until the loop has shut down.
    private static func drive<Result: Sendable>(
        _ body: @escaping @Sendable (EventLoop) -> Result
    ) async throws -> (result: Result, turns: Int) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Swift.Result {
                        let loop = try EventLoop.driven(name: "driven")
                        let closed = Locked(false)
                        loop.onClosed { closed.withLock { $0 = true } }
                        let result = body(loop)
                        var turns = 0
                        while !closed.withLock({ $0 }) {
                            var descriptor = pollfd(
                                fd: loop.backendDescriptor,
                                events: Int16(POLLIN),
                                revents: 0
                            )
                            unsafe poll(&descriptor, 1, loop.backendTimeout)
                            loop.dispatch()
                            turns += 1
                        }
                        return (result, turns)
                    }
                )
            }
        }
    }

    @Test
    func `other threads and timers wake a program that polls a driven loop`() async throws {
        let seen = Journal<String>()
        _ = try await Self.drive { loop in
            let counter = Counter(eventLoop: loop)
            Task {
                for _ in 0..<100 { await counter.increment() }
                try await loop.clock.sleep(for: .milliseconds(20))
                seen.add("\(await counter.count)")
                await loop.shutDown()
                seen.add("closed")
            }
        }
        #expect(await eventually { seen.count == 2 })
        #expect(seen.entries == ["100", "closed"])
    }

    @Test(.needsPrivateSymbol("watcher_queue"))
    func `a program that polls a driven loop sleeps until a timer fires`() async throws {
        let turns = try await Self.drive { loop in
            Task {
                try await loop.clock.sleep(for: .milliseconds(20))
                await loop.shutDown()
            }
        }.turns
        #expect(turns < 100)
    }

    @Test
    func `a driven loop watches a new descriptor before the program polls again`() async throws {
        let seen = Journal<[UInt8]>()
        _ = try await Self.drive { loop in
            Task {
                let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
                let client = try await StreamConnection.connect(to: listener.address, on: loop)
                var connections = listener.connections.makeAsyncIterator()
                let server = try await connections.next()
                try await client.write([1, 2, 3])
                if let bytes = try await server?.read() { seen.add(bytes) }
                await loop.shutDown()
            }
        }
        #expect(await eventually { seen.count == 1 })
        #expect(seen.entries == [[1, 2, 3]])
    }

    @Test
    func `a driven loop can close another driven loop of its thread`() async throws {
        let seen: [String] = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let seen = Journal<String>()
                        let loop = try EventLoop.driven(name: "first")
                        let other = try EventLoop.driven(name: "second")
                        let isClosed = Flag()
                        for each in [loop, other] {
                            each.onShutDown { seen.add("\(EventLoop.current?.name ?? "none") ends") }
                        }
                        other.onClosed { isClosed.raise() }
                        loop.execute {
                            other.beginShutDown()
                            while !isClosed.isRaised { other.dispatch() }
                            seen.add(EventLoop.current?.name ?? "none")
                        }
                        while !isClosed.isRaised { loop.dispatch() }
                        seen.add(EventLoop.current?.name ?? "none")
                        loop.onClosed { seen.add("closed") }
                        loop.beginShutDown()
                        while !seen.entries.contains("closed") { loop.dispatch() }
                        return seen.entries
                    }
                )
            }
        }
        #expect(seen == ["second ends", "first", "none", "first ends", "closed"])
    }
}

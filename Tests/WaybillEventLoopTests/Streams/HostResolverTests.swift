internal import CLibUV
internal import Foundation
internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.serialized, .timeLimit(.minutes(1)))
struct HostResolverTests {
    private static let address = StreamAddress.tcp("no-host.invalid", port: 1)

    @Test
    func `a lookup that nobody waits for leaves libuv's queue`() async throws {
        try await Self.withBusyThreads {
            let loop = EventLoop(name: "lookups")
            var options = StreamOptions()
            options.connectTimeout = .milliseconds(10)
            let late = await failure {
                _ = try await StreamConnection.connect(to: Self.address, on: loop, options: options)
            }
            #expect(late == .timedOut)
            #expect(await eventually { await Self.lookups(on: loop) == 0 })
            let client = Task { try await StreamConnection.connect(to: Self.address, on: loop) }
            #expect(await eventually { await Self.lookups(on: loop) == 1 })
            client.cancel()
            #expect(await failure { _ = try await client.value } == .cancelled)
            #expect(await eventually { await Self.lookups(on: loop) == 0 })
            await loop.shutDown()
        }
    }

    @Test
    func `a driven loop closes after its lookups`() async throws {
        let lookups = try await onThread {
            Result {
                let loop = try EventLoop.driven(name: "driven")
                let ended = Flag()
                Task {
                    _ = try? await StreamConnection.connect(to: Self.address, on: loop)
                    ended.raise()
                }
                while unsafe loop.core.state.pointee.streams.count == 0, !ended.isRaised { loop.dispatch() }
                loop.beginShutDown()
                // The last call closes libuv's loop, which traps if a lookup uses the loop.
                while !loop.core.lifecycle.isClosed { loop.dispatch() }
                return unsafe loop.core.state.pointee.streams.count
            }
        }.get()
        #expect(lookups == 0)
    }

    private static func lookups(on loop: EventLoop) async -> Int {
        await loop.run { unsafe loop.core.state.pointee.streams.count }
    }

    /// Runs a closure while all threads of libuv are busy.
    private static func withBusyThreads(_ body: () async throws -> Void) async throws {
        let threads = ProcessInfo.processInfo.environment["UV_THREADPOOL_SIZE"].flatMap { Int($0) } ?? 4
        let gate = DispatchSemaphore(value: 0)
        let work = BusyThreads(count: threads, gate: gate)
        let ended = Task { await onThread { work.run() } }
        #expect(await eventually { work.started == threads })
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        for _ in 0..<threads { gate.signal() }
        await ended.value
        try result.get()
    }
}

/// Work that occupies the threads of libuv until a gate opens.
private final class BusyThreads: @unchecked Sendable {
    // Only the thread of `run` changes the memory, and libuv's threads only read the gate and the counter.
    private let count: Int
    private let gate: DispatchSemaphore
    private let starts = Locked(0)

    init(count: Int, gate: DispatchSemaphore) {
        self.count = count
        self.gate = gate
    }

    var started: Int { self.starts.withLock { $0 } }

    /// Enqueues the work on a new loop, and runs the loop until the work is done.
    func run() {
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let requests = UnsafeMutablePointer<uv_work_t>.allocate(capacity: self.count)
        unsafe uv_loop_init(loop)
        for index in 0..<self.count {
            let request = unsafe requests + index
            // The object lives until `run` returns, and libuv has finished the work before.
            unsafe request.pointee.data = Unmanaged.passUnretained(self).toOpaque()
            unsafe uv_queue_work(
                loop,
                request,
                { request in
                    guard let data = unsafe request?.pointee.data else { return }
                    unsafe Unmanaged<BusyThreads>.fromOpaque(data).takeUnretainedValue().wait()
                },
                nil
            )
        }
        unsafe uv_run(loop, UV_RUN_DEFAULT)
        unsafe uv_loop_close(loop)
        unsafe requests.deallocate()
        unsafe loop.deallocate()
    }

    private func wait() {
        self.starts.withLock { $0 += 1 }
        self.gate.wait()
    }
}

internal import CLibUV
internal import Foundation
package import WaybillEventLoop

/// A program with its own libuv loop, its own timer and its own call of `uv_run`.
@safe
package final class HostThread {
    private final class Tick {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    private let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    private let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)

    package init() {
        unsafe uv_loop_init(self.loop)
    }

    /// Runs a host's program on a separate thread, outside of any task.
    package static func run<Result: Sendable>(
        _ program: @escaping @Sendable (HostThread) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Swift.Result { try program(HostThread()) })
            }
        }
    }

    package func adopt(name: String) throws(EventLoopError) -> EventLoop {
        try unsafe EventLoop.adopting(UnsafeMutableRawPointer(self.loop), name: name)
    }

    package func startTimer(every milliseconds: UInt64, _ body: @escaping () -> Void) {
        unsafe uv_timer_init(self.loop, self.timer)
        unsafe self.timer.pointee.data = Unmanaged.passRetained(Tick(body)).toOpaque()
        unsafe uv_timer_start(
            self.timer,
            { timer in
                guard let data = unsafe timer?.pointee.data else { return }
                unsafe Unmanaged<Tick>.fromOpaque(data).takeUnretainedValue().body()
            },
            milliseconds,
            milliseconds
        )
    }

    package func stopTimer() {
        unsafe UnsafeMutableRawPointer(self.timer).withMemoryRebound(to: uv_handle_t.self, capacity: 1) {
            handle in
            unsafe uv_close(handle) { handle in
                guard let data = unsafe handle?.pointee.data else { return }
                unsafe Unmanaged<Tick>.fromOpaque(data).release()
            }
        }
    }

    package func run() { unsafe uv_run(self.loop, UV_RUN_DEFAULT) }

    /// Runs one iteration of the loop, and returns whether the loop has more to do.
    ///
    /// If `waits` is false, the iteration does not wait for events.
    @discardableResult
    package func runOnce(waits: Bool = true) -> Bool {
        unsafe uv_run(self.loop, waits ? UV_RUN_ONCE : UV_RUN_NOWAIT) != 0
    }

    /// Runs one iteration without waiting, and then waits until libuv's descriptor is ready.
    ///
    /// A host that polls the descriptor itself does the same.
    ///
    /// - Parameter milliseconds: The longest time to wait.
    /// - Returns: Whether the descriptor was ready in time, and before the next timer of libuv.
    package func runOnceAndPoll(waitingFor milliseconds: Int32) -> Bool {
        self.runOnce(waits: false)
        return self.pollOnly(waitingFor: milliseconds)
    }

    /// Waits until libuv's descriptor is ready, without running an iteration before.
    ///
    /// - Parameter milliseconds: The longest time to wait.
    /// - Returns: Whether the descriptor was ready in time, and before the next timer of libuv.
    package func pollOnly(waitingFor milliseconds: Int32) -> Bool {
        let timeout = unsafe uv_backend_timeout(self.loop)
        var polled = unsafe pollfd(fd: uv_backend_fd(self.loop), events: Int16(POLLIN), revents: 0)
        return unsafe poll(&polled, 1, timeout < 0 ? milliseconds : min(timeout, milliseconds)) > 0
    }

    /// Closes the loop.
    ///
    /// - Returns: The result of libuv: zero, or `UV_EBUSY` if a handle is still open.
    package func close() -> Int32 {
        let status = unsafe uv_loop_close(self.loop)
        if status == 0 {
            unsafe self.loop.deallocate()
            unsafe self.timer.deallocate()
        }
        return status
    }
}

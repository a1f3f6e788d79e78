internal import CLibUV

#if os(Linux)
internal import Glibc
#endif

/// Wakes a loop that sleeps in its poll, from another thread.
///
/// The type uses an eventfd with `uv_poll` on Linux and `uv_async` elsewhere. Docs/Decisions/0002 contains
/// the measurements. A lock makes it safe to call `close` and `signal` at the same time. The lock is taken
/// only once per sleep, and costs little beside the system call that follows.
@safe
final class WakeUp {
    #if os(Linux)
    private let handle: PollHandle
    private let descriptor: Locked<Int32?>

    init(on loop: UVLoop) throws(EventLoopError) {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        try EventLoopError.check(descriptor < 0 ? -errno : 0, "open an eventfd")
        do throws(EventLoopError) {
            self.handle = try PollHandle(on: loop, descriptor: descriptor) {
                var count: UInt64 = 0
                // A failed read is harmless: it means only that no signal has been sent since the last read.
                _ = unsafe read(descriptor, &count, 8)
            }
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
        self.descriptor = Locked(descriptor)
        self.handle.start()
    }

    /// Wakes the loop, from any thread; does nothing after the close.
    func signal() {
        self.descriptor.withLock { descriptor in
            guard let descriptor else { return }
            var one: UInt64 = 1
            // The write fails only when 2^64 - 2 signals have not been read yet.
            _ = unsafe write(descriptor, &one, 8)
        }
    }

    /// Closes the handle and the descriptor, on the loop's thread.
    func close(onClosed: @escaping () -> Void) {
        let descriptor = self.descriptor.withLock { $0.take() }
        self.handle.close {
            if let descriptor { _ = Glibc.close(descriptor) }
            onClosed()
        }
    }
    #else
    private let handle: AsyncHandle
    private let isOpen = Locked(true)

    init(on loop: UVLoop) throws(EventLoopError) {
        self.handle = try AsyncHandle(on: loop) {}
    }

    /// Wakes the loop, from any thread; does nothing after the close.
    func signal() {
        self.isOpen.withLock { isOpen in
            if isOpen { self.handle.send() }
        }
    }

    /// Closes the handle, on the loop's thread.
    func close(onClosed: @escaping () -> Void) {
        self.isOpen.withLock { $0 = false }
        self.handle.close(onClosed: onClosed)
    }
    #endif

    /// Lets the loop end although another thread could still wake the loop.
    func unreference() { self.handle.unreference() }
}

/// A handle that runs a closure each time a file descriptor is readable.
@safe
struct PollHandle {
    private let handle: LoopHandle

    init(on loop: UVLoop, descriptor: Int32, onEvent: @escaping () -> Void) throws(EventLoopError) {
        self.handle = try unsafe LoopHandle(UV_POLL, onEvent: onEvent) { memory in
            unsafe uv_poll_init(loop.pointer, memory.assumingMemoryBound(to: uv_poll_t.self), descriptor)
        }
    }

    /// Starts to watch the descriptor.
    func start() {
        _ = unsafe uv_poll_start(
            self.handle.memory.assumingMemoryBound(to: uv_poll_t.self),
            Int32(UV_READABLE.rawValue),
            { handle, _, _ in unsafe LoopHandle.fire(handle) }
        )
    }

    /// Stops watching the descriptor; stopping it twice is harmless.
    func stop() {
        _ = unsafe uv_poll_stop(self.handle.memory.assumingMemoryBound(to: uv_poll_t.self))
    }

    /// Lets the loop end although the handle is started.
    func unreference() { self.handle.unreference() }

    /// Closes the handle; the caller must close the descriptor.
    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }
}

/// A handle that runs a closure on the loop after another thread has called ``send()``.
///
/// libuv supports this handle on every platform.
@safe
struct AsyncHandle {
    private let handle: LoopHandle

    init(on loop: UVLoop, onEvent: @escaping () -> Void) throws(EventLoopError) {
        self.handle = try unsafe LoopHandle(UV_ASYNC, onEvent: onEvent) { memory in
            unsafe uv_async_init(loop.pointer, memory.assumingMemoryBound(to: uv_async_t.self)) { handle in
                unsafe LoopHandle.fire(handle)
            }
        }
    }

    /// Wakes the loop, from any thread; the handle must not have been closed.
    func send() {
        _ = unsafe uv_async_send(self.handle.memory.assumingMemoryBound(to: uv_async_t.self))
    }

    /// Lets the loop end although the handle is active.
    func unreference() { self.handle.unreference() }

    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }
}

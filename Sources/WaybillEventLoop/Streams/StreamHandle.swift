internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A `uv_tcp_t` or a `uv_pipe_t`.
///
/// The two differ only in how they are created, opened and connected. Received bytes do not pass through
/// libuv, because libuv allocates a buffer before it knows the number of bytes, and continues to read until
/// it is stopped. The read callback of this type provides no buffer, so libuv only reports that the socket is
/// readable (`UV_ENOBUFS`). The connection calls `recv` when a task asks for the bytes.
///
/// All calls happen on the loop's thread. No call follows `close`.
@safe
struct StreamHandle {
    private let handle: LoopHandle
    let isUnix: Bool

    /// Creates a handle without a socket.
    ///
    /// `onReadable` runs each time the socket is readable while the handle watches the socket.
    init(on loop: UVLoop, isUnix: Bool, onReadable: @escaping () -> Void) throws(EventLoopError) {
        self.isUnix = isUnix
        if isUnix {
            self.handle = try unsafe LoopHandle(UV_NAMED_PIPE, onEvent: onReadable) { memory in
                unsafe uv_pipe_init(loop.pointer, memory.assumingMemoryBound(to: uv_pipe_t.self), 0)
            }
        } else {
            self.handle = try unsafe LoopHandle(UV_TCP, onEvent: onReadable) { memory in
                unsafe uv_tcp_init(loop.pointer, memory.assumingMemoryBound(to: uv_tcp_t.self))
            }
        }
    }

    private var tcp: UnsafeMutablePointer<uv_tcp_t> {
        unsafe self.handle.memory.assumingMemoryBound(to: uv_tcp_t.self)
    }

    private var pipe: UnsafeMutablePointer<uv_pipe_t> {
        unsafe self.handle.memory.assumingMemoryBound(to: uv_pipe_t.self)
    }

    private var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe self.handle.memory.assumingMemoryBound(to: uv_stream_t.self)
    }

    /// The descriptor of the socket; -1 before the handle has a socket.
    var descriptor: Int32 {
        var descriptor: Int32 = -1
        return unsafe uv_fileno(self.handle.base, &descriptor) < 0 ? -1 : descriptor
    }

    /// Opens the handle for a connected socket.
    ///
    /// The handle owns the socket unless the result is negative.
    func open(_ descriptor: Int32) -> Int32 {
        unsafe self.isUnix ? uv_pipe_open(self.pipe, descriptor) : uv_tcp_open(self.tcp, descriptor)
    }

    /// Turns `TCP_NODELAY` on or off, so that small writes are sent at once or collected; for TCP only.
    func setNoDelay(_ isOn: Bool) {
        if !self.isUnix { _ = unsafe uv_tcp_nodelay(self.tcp, isOn ? 1 : 0) }
    }

    /// Makes the system probe the peer after a period of silence; for TCP only.
    func keepAlive(after silence: Duration) {
        // The system accepts at most 32,767 seconds.
        let seconds = UInt32(max(1, min(silence, .seconds(32_767)).components.seconds))
        if !self.isUnix { _ = unsafe uv_tcp_keepalive(self.tcp, 1, seconds) }
    }

    /// Connects; `onDone` receives the status, unless the result is negative.
    func connect(to address: SocketAddress, onDone: @escaping (Int32) -> Void) -> Int32 {
        unsafe LoopRequest.start(UV_CONNECT, onDone: onDone) { memory in
            let request = unsafe memory.assumingMemoryBound(to: uv_connect_t.self)
            if case .unix(let path) = address.address {
                unsafe uv_pipe_connect(request, self.pipe, path) { unsafe LoopRequest.finish($0, $1) }
                return 0
            }
            return unsafe address.withPointer { address in
                unsafe uv_tcp_connect(request, self.tcp, address) { unsafe LoopRequest.finish($0, $1) }
            }
        }
    }

    /// Starts to watch for bytes; starting twice is harmless.
    func startReading() -> Int32 {
        let status = unsafe uv_read_start(
            self.stream,
            { _, _, buffer in unsafe buffer?.pointee = uv_buf_init(nil, 0) },
            { stream, _, _ in unsafe LoopHandle.fire(stream) }
        )
        return status == UV_EALREADY.rawValue ? 0 : status
    }

    /// Stops watching for bytes; stopping twice is harmless.
    func stopReading() { _ = unsafe uv_read_stop(self.stream) }

    /// Writes the bytes that the socket accepts at once, in one system call.
    ///
    /// The result is the number of written bytes, zero if the socket is full, or negative on failure.
    func tryWrite(_ buffers: UnsafeBufferPointer<uv_buf_t>) -> Int {
        let status = unsafe uv_try_write(self.stream, buffers.baseAddress, UInt32(buffers.count))
        return status == UV_EAGAIN.rawValue ? 0 : Int(status)
    }

    /// Writes bytes as soon as the socket accepts them.
    ///
    /// `fill` copies the bytes into the request's memory. Unless the result is negative, `onDone` receives
    /// the status when all bytes are written.
    func write(
        _ count: Int,
        _ fill: (UnsafeMutableRawBufferPointer) -> Void,
        onDone: @escaping (Int32) -> Void
    ) -> Int32 {
        unsafe LoopRequest.start(UV_WRITE, extra: count, onDone: onDone) { memory in
            let bytes = unsafe memory + LoopRequest.size(of: UV_WRITE)
            unsafe fill(UnsafeMutableRawBufferPointer(start: bytes, count: count))
            var buffer = unsafe uv_buf_init(bytes.assumingMemoryBound(to: CChar.self), UInt32(count))
            let request = unsafe memory.assumingMemoryBound(to: uv_write_t.self)
            return unsafe uv_write(request, self.stream, &buffer, 1) { unsafe LoopRequest.finish($0, $1) }
        }
    }

    /// Ends writing, so that the peer reads the end of the stream.
    ///
    /// `onDone` receives the status, unless the result is negative.
    func shutDown(onDone: @escaping (Int32) -> Void) -> Int32 {
        unsafe LoopRequest.start(UV_SHUTDOWN, onDone: onDone) { memory in
            let request = unsafe memory.assumingMemoryBound(to: uv_shutdown_t.self)
            return unsafe uv_shutdown(request, self.stream) { unsafe LoopRequest.finish($0, $1) }
        }
    }

    /// Closes the handle and its socket.
    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }

    /// Makes the next close a reset over TCP, which drops unsent bytes and informs the peer.
    func resetOnClose() {
        guard !self.isUnix else { return }
        var option = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        _ = unsafe setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &option, size)
    }
}

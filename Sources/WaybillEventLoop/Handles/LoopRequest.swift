internal import CLibUV

/// The memory of a libuv request, and the closure that runs when the request is done.
///
/// ``LoopHandle`` is the similar type for handles. From a successful start until the callback, libuv owns the
/// request by the request's `data` field. libuv calls back for every request, even when the handle is closed
/// before the request is done. All calls happen on the loop's thread.
@safe
final class LoopRequest {
    private let memory: UnsafeMutableRawPointer
    private let onDone: (Int32) -> Void

    private init(_ type: uv_req_type, extra: Int, onDone: @escaping (Int32) -> Void) {
        unsafe self.memory = .allocate(byteCount: Self.size(of: type) + extra, alignment: 16)
        self.onDone = onDone
    }

    deinit { unsafe self.memory.deallocate() }

    /// Returns the size of a request, rounded up so that the bytes after it are aligned.
    static func size(of type: uv_req_type) -> Int { (uv_req_size(type) + 15) & ~15 }

    /// Starts a request by `begin`, and returns the result of `begin`, which is negative on failure.
    ///
    /// `onDone` runs with libuv's status when the request is done, unless the request has failed to start.
    /// The `extra` bytes after the request are freed with the request.
    static func start(
        _ type: uv_req_type,
        extra: Int = 0,
        onDone: @escaping (Int32) -> Void,
        begin: (UnsafeMutableRawPointer) -> Int32
    ) -> Int32 {
        let request = LoopRequest(type, extra: extra, onDone: onDone)
        // Set the data before the start, because libuv may call back before `begin` returns.
        let data = unsafe CallbackContext.retaining(request)
        unsafe uv_req_set_data(request.memory.assumingMemoryBound(to: uv_req_t.self), data)
        let status = unsafe begin(request.memory)
        if status < 0 { unsafe CallbackContext.take(data, as: LoopRequest.self) }
        return status
    }

    /// Ends the request at `memory`, for use in libuv's callbacks.
    static func finish(_ memory: UnsafeMutableRawPointer?, _ status: Int32) {
        guard let memory = unsafe memory,
            let data = unsafe uv_req_get_data(memory.assumingMemoryBound(to: uv_req_t.self))
        else { return }
        // `start` retained the request, and releasing the request frees the memory. Without
        // `withExtendedLifetime`, the optimizer could release the request before the closure reads the
        // memory.
        let request = unsafe CallbackContext.take(data, as: LoopRequest.self)
        withExtendedLifetime(request) { request.onDone(status) }
    }
}

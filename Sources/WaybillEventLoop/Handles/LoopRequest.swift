internal import CLibUV

/// One request of libuv: its memory, and the closure to run when it is done.
///
/// What ``LoopHandle`` is for handles. From a successful start until its callback the request belongs to
/// libuv, which holds it by its `data` field; every callback comes, also for a handle that is closed
/// meanwhile. Everything here happens on the loop's thread.
@safe
final class LoopRequest {
    private let memory: UnsafeMutableRawPointer
    private let onDone: (Int32) -> Void

    private init(_ type: uv_req_type, extra: Int, onDone: @escaping (Int32) -> Void) {
        unsafe self.memory = .allocate(byteCount: Self.size(of: type) + extra, alignment: 16)
        self.onDone = onDone
    }

    deinit { unsafe self.memory.deallocate() }

    /// The size of a request, rounded so that what follows it is aligned.
    static func size(of type: uv_req_type) -> Int { (uv_req_size(type) + 15) & ~15 }

    /// Starts a request.
    ///
    /// - Parameters:
    ///   - type: The libuv type, which decides the size.
    ///   - extra: Bytes that live as long as the request, behind it.
    ///   - onDone: Runs with libuv's status when the request is done; not at all if it does not start.
    ///   - begin: Hands the memory to libuv.
    /// - Returns: What `begin` returned; the request has started unless that is negative.
    static func start(
        _ type: uv_req_type,
        extra: Int = 0,
        onDone: @escaping (Int32) -> Void,
        begin: (UnsafeMutableRawPointer) -> Int32
    ) -> Int32 {
        let request = LoopRequest(type, extra: extra, onDone: onDone)
        // Before the start: libuv may answer within it.
        let retained = unsafe Unmanaged.passRetained(request)
        unsafe uv_req_set_data(request.memory.assumingMemoryBound(to: uv_req_t.self), retained.toOpaque())
        let status = unsafe begin(request.memory)
        if status < 0 { unsafe retained.release() }
        return status
    }

    /// Ends the request at `memory`, for use in libuv's callbacks.
    static func finish(_ memory: UnsafeMutableRawPointer?, _ status: Int32) {
        guard let memory = unsafe memory,
            let data = unsafe uv_req_get_data(memory.assumingMemoryBound(to: uv_req_t.self))
        else { return }
        // Counted since the start. The memory goes back when this reference does, which the optimizer would
        // drop before the closure reads the memory.
        let request = unsafe Unmanaged<LoopRequest>.fromOpaque(data).takeRetainedValue()
        withExtendedLifetime(request) { request.onDone(status) }
    }
}

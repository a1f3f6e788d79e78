internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Starts detached threads; each thread ends when its body returns.
package enum LoopThread {
    private final class Start {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: The thread's name in debuggers and `top -H`; Linux keeps the first 15 bytes.
    ///   - body: The closure that the thread runs.
    package static func start(name: String, body: @escaping @Sendable () -> Void) {
        let start = unsafe CallbackContext.retaining(Start(name: name, body: body))
        #if canImport(Darwin)
        var thread: pthread_t?
        let status = unsafe pthread_create(&thread, nil, { Self.main($0) }, start)
        if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #else
        var thread = pthread_t()
        let status = unsafe pthread_create(&thread, nil, { unsafe Self.main($0) }, start)
        if status == 0 { pthread_detach(thread) }
        #endif
        precondition(
            status == 0,
            "the system cannot create the thread \(name): raise the limit of threads (ulimit -u)"
        )
    }

    private static func main(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context = unsafe context else { return nil }
        let start = unsafe CallbackContext.take(context, as: Start.self)
        // The name is cut at 15 bytes, because Linux rejects longer names.
        let name = String(decoding: start.name.utf8.prefix(15), as: UTF8.self)
        unsafe waybill_name_thread(name)
        start.body()
        return nil
    }
}

/// A number that identifies the calling thread.
///
/// Reading the number takes about a nanosecond, because it comes from a register. A thread-local variable
/// would be looked up through the dynamic linker.
enum ThreadID {
    /// The number that represents no thread.
    static let none: UInt = 0

    /// The number of the calling thread.
    @inline(__always)
    static var current: UInt { waybill_thread_id() }
}

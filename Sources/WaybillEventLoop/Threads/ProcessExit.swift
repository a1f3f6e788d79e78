#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The exit of the process, which does not wait for the threads of loops.
///
/// When a process exits, a destructor of libuv frees the resources that all loops share: the lock of its
/// signals, and the threads that resolve hosts. If a loop uses one of them afterwards, libuv calls `abort()`,
/// and a program that ended normally has the exit status of a crash.
///
/// This happens in practice. A server waits for signals until it ends, and the handle of the last signal is
/// closed while its main function returns.
enum ProcessExit {
    private static let hasBegun: Locked<Bool> = {
        // The handler runs before the destructors of libraries.
        atexit { ProcessExit.hasBegun.withLock { $0 = true } }
        return Locked(false)
    }()

    /// Runs a closure that uses libuv's shared resources, and keeps them alive meanwhile.
    ///
    /// - Parameter body: Calls libuv; it must not cause a callback.
    /// - Returns: The result of the closure; nil if the process has begun to exit, and the closure has not
    ///   run.
    static func unlessBegun<Result>(_ body: () -> Result) -> Result? {
        self.hasBegun.withLock { hasBegun in hasBegun ? nil : body() }
    }
}

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The exit of the process, which does not wait for the threads of loops.
///
/// When a process exits, a destructor of libuv frees the resources that all loops share: the lock for
/// signals, and the threads that resolve hosts. If a loop uses one of these resources afterwards, libuv calls
/// `abort()`. A program that ended normally then has the exit status of a crash.
///
/// This happens in practice, because a server often waits for signals until it ends. The loop then closes the
/// handle of the last signal while the main function of the server returns.
enum ProcessExit {
    private static let hasBegun: Locked<Bool> = {
        // The handler runs before the destructors of libraries.
        atexit { ProcessExit.hasBegun.withLock { $0 = true } }
        return Locked(false)
    }()

    static var isUnderway: Bool { self.hasBegun.withLock { $0 } }

    /// Runs a closure that uses libuv's shared resources, and keeps the resources alive while the closure
    /// runs.
    ///
    /// The closure must not cause a callback. If the process has begun to exit, the closure does not run, and
    /// the result is nil.
    static func unlessBegun<Result>(_ body: () -> Result) -> Result? {
        self.hasBegun.withLock { hasBegun in hasBegun ? nil : body() }
    }
}

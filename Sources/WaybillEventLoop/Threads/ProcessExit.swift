#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The end of the process, which the threads of loops do not wait for.
///
/// When a process exits, a destructor of libuv gives back what all loops share: the lock of its signals, and
/// the threads that look up hosts. A loop that asks for one of them then calls `abort()`, and a program that
/// has ended well has the status of one that crashed. That happens where it matters: a server reads signals
/// until it ends, and the handle of the last one is given back while its main function returns.
enum ProcessExit {
    private static let hasBegun: Locked<Bool> = {
        // Called before the destructors of libraries.
        atexit { ProcessExit.hasBegun.withLock { $0 = true } }
        return Locked(false)
    }()

    /// Runs code that needs what libuv shares, which does not go away meanwhile.
    ///
    /// - Parameter body: calls libuv, and leads to no callback.
    /// - Returns: what the code returns; nil if the process exits, and the code has not run.
    static func unlessBegun<Result>(_ body: () -> Result) -> Result? {
        self.hasBegun.withLock { hasBegun in hasBegun ? nil : body() }
    }
}

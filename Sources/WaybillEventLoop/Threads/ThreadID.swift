#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A number that names the calling thread, in about a nanosecond.
///
/// `pthread_self` reads a register; a thread-local variable would be looked up through the dynamic linker.
struct ThreadID {
    /// No thread.
    static let none: UInt = 0

    /// The calling thread.
    @inline(__always)
    static var current: UInt {
        #if canImport(Darwin)
        unsafe UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }
}

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A value behind a lock.
///
/// `Mutex` would do, but on Linux it waits in a way that the thread sanitizer does not see, and then everything that it
/// protects is reported as a race; a POSIX mutex is seen. Nothing here is locked often enough for the difference in
/// speed to matter.
@safe
@usableFromInline
package struct Locked<Value: ~Copyable>: ~Copyable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Puts a value behind a lock.
    package init(_ value: consuming sending Value) {
        unsafe self.mutex = .allocate(capacity: 1)
        unsafe self.mutex.initialize(to: pthread_mutex_t())
        let status = unsafe pthread_mutex_init(self.mutex, nil)
        precondition(status == 0, "the system has no mutex left")
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    deinit {
        unsafe pthread_mutex_destroy(self.mutex)
        unsafe self.mutex.deallocate()
        unsafe self.value.deinitialize(count: 1)
        unsafe self.value.deallocate()
    }

    @usableFromInline
    borrowing func lock() { unsafe pthread_mutex_lock(self.mutex) }

    @usableFromInline
    borrowing func unlock() { unsafe pthread_mutex_unlock(self.mutex) }

    /// Runs a closure that has the value for itself meanwhile; it must not come back for the same lock.
    @inlinable
    @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        self.lock()
        defer { self.unlock() }
        return try unsafe body(&self.value.pointee)
    }
}

// The value is only ever touched by the one thread that holds the lock.
extension Locked: @unchecked Sendable where Value: ~Copyable {}

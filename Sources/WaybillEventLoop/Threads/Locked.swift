#if WAYBILL_PTHREAD_LOCKS
internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
#else
// Public, since inlinable code of the package names it.
public import Synchronization
#endif

/// A value behind a lock.
///
/// A `Mutex` in place: no heap block, and no system call unless two threads meet. On Linux it waits in a way
/// that the thread sanitizer does not see, and every value behind one would be reported as a race; compiled
/// with `-D WAYBILL_PTHREAD_LOCKS` the lock is a POSIX mutex, which the sanitizer knows.
///
/// A function is put into a structure first: of a value of a generic type that is a function itself, each
/// access would store a function that calls the one before.
@safe
@usableFromInline
package struct Locked<Value: ~Copyable>: ~Copyable {
    #if WAYBILL_PTHREAD_LOCKS
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
    #else
    @usableFromInline let mutex: Mutex<Value>

    /// Puts a value behind a lock.
    @inlinable
    package init(_ value: consuming sending Value) { self.mutex = Mutex(value) }
    #endif

    /// Runs a closure with exclusive access to the value; the closure must not take the same lock.
    @inlinable
    @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if WAYBILL_PTHREAD_LOCKS
        self.lock()
        defer { self.unlock() }
        return try unsafe body(&self.value.pointee)
        #else
        return try self.mutex.withLock(body)
        #endif
    }
}

#if WAYBILL_PTHREAD_LOCKS
// Only the thread that holds the lock touches the value.
extension Locked: @unchecked Sendable where Value: ~Copyable {}
#else
extension Locked: Sendable where Value: ~Copyable {}
#endif

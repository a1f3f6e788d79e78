#if WAYBILL_PTHREAD_LOCKS
internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
#else
// The import is public because inlinable code of the package uses the module.
public import Synchronization
#endif

/// A value that is protected by a lock.
///
/// The lock is a `Mutex` that is stored inline. It needs no heap allocation, and no system call unless two
/// threads contend. On Linux the thread sanitizer does not recognize how a `Mutex` waits, and would report a
/// race for every protected value. With `-D WAYBILL_PTHREAD_LOCKS` the lock is a POSIX mutex, which the
/// sanitizer supports.
///
/// If the value is a function, wrap it in a structure. Otherwise the generic type makes each access store a
/// new function that calls the previous one.
@safe
@usableFromInline
package struct Locked<Value: ~Copyable>: ~Copyable {
    #if WAYBILL_PTHREAD_LOCKS
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Creates a lock around a value.
    package init(_ value: consuming sending Value) {
        unsafe self.mutex = .allocate(capacity: 1)
        unsafe self.mutex.initialize(to: pthread_mutex_t())
        let status = unsafe pthread_mutex_init(self.mutex, nil)
        precondition(status == 0, "the system cannot create a mutex")
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

    /// Creates a lock around a value.
    @inlinable
    package init(_ value: consuming sending Value) { self.mutex = Mutex(value) }
    #endif

    /// Calls a closure with exclusive access to the value; the closure must not acquire the same lock.
    ///
    /// The lock is free when the result is released, even if the caller ignores the result. A closure that
    /// removes an object of the program from the value must return it, because the object's deinitializer may
    /// acquire the lock.
    @inlinable
    @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let result = try self.exclusively(body)
        // Without this line, the optimizer may release an ignored result while the lock is held.
        withExtendedLifetime(result) {}
        return result
    }

    @inlinable
    @inline(__always)
    borrowing func exclusively<Result: ~Copyable, Failure: Error>(
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
// Only the thread that holds the lock accesses the value.
extension Locked: @unchecked Sendable where Value: ~Copyable {}
#else
extension Locked: Sendable where Value: ~Copyable {}
#endif

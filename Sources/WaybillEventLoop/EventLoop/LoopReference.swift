internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A reference from a loop's core to the loop, for use even after the loop has been destroyed.
///
/// A weak variable would be correct but slow. Once an object has had a weak reference, its counts move to a
/// side table, and every retain and release costs twice as much from then on. The loop is retained for every
/// job.
///
/// The core therefore keeps the memory of the loop allocated with a separate unowned variable. This type asks
/// the runtime to retain the object if it is still alive.
@safe
struct LoopReference {
    #if WAYBILL_PUBLIC_API_ONLY
    private weak var object: EventLoop?
    #else
    private let address: UInt
    #endif

    /// The runtime's reference to the loop as an executor.
    let executor: UnownedSerialExecutor

    init(_ loop: EventLoop) {
        #if WAYBILL_PUBLIC_API_ONLY
        self.object = loop
        #else
        unsafe self.address = UInt(bitPattern: CallbackContext.borrowing(loop))
        #endif
        unsafe self.executor = loop.asUnownedSerialExecutor()
    }

    /// The loop, or nil after the last reference to it is dropped.
    var loop: EventLoop? {
        #if WAYBILL_PUBLIC_API_ONLY
        return self.object
        #else
        guard let retained = unsafe swift_tryRetain(UnsafeMutableRawPointer(bitPattern: self.address))
        else { return nil }
        // `swift_tryRetain` has counted the reference already.
        return unsafe CallbackContext.take(retained)
        #endif
    }
}

/// The loop that the calling thread runs.
///
/// The loop is stored under a POSIX thread key, because a task-local value would follow tasks and not
/// threads.
enum CurrentLoop {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = unsafe pthread_key_create(&key, nil)
        precondition(status == 0, "the process cannot create another thread-specific key")
        return key
    }()

    /// The loop that a thread ran before it entered another loop.
    @safe
    struct Outer {
        fileprivate let core: UnsafeMutableRawPointer?

        /// No loop.
        static var none: Self { unsafe Self(core: nil) }

        /// The loop of the calling thread, or no loop if the thread's loop is the given loop.
        static func current(except core: LoopCore) -> Self {
            let current = unsafe Self(core: pthread_getspecific(CurrentLoop.key))
            return unsafe current.core == CallbackContext.borrowing(core) ? .none : current
        }
    }

    /// Makes a loop the loop of the calling thread, and returns the loop that ``leave(restoring:)`` restores.
    ///
    /// The caller must keep the core alive until the thread has left the loop.
    @discardableResult
    static func enter(_ core: LoopCore) -> Outer {
        let outer = unsafe Outer(core: pthread_getspecific(self.key))
        unsafe self.leave(restoring: Outer(core: CallbackContext.borrowing(core)))
        return outer
    }

    static func leave(restoring outer: Outer) { _ = unsafe pthread_setspecific(self.key, outer.core) }

    /// The core of the loop that the calling thread runs, or nil.
    static var core: LoopCore? {
        // The thread keeps the core alive until it leaves the loop.
        unsafe pthread_getspecific(self.key).map { unsafe CallbackContext.object(of: $0) }
    }
}

internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The way from a loop's works to the loop, which may be gone.
///
/// A weak variable would do, but an object that was ever weakly referenced has its counts in a side table, and every
/// retain and release of it costs twice as much from then on; a loop is retained all day long. So the works keep the
/// object's memory, by an unowned variable of their own, and this asks the runtime whether there is still life in it.
@safe
struct LoopReference {
    private let address: UInt

    /// The loop as the runtime names it.
    let executor: UnownedSerialExecutor

    init(_ loop: EventLoop) {
        unsafe self.address = UInt(bitPattern: Unmanaged.passUnretained(loop).toOpaque())
        unsafe self.executor = loop.asUnownedSerialExecutor()
    }

    /// The loop, or nil if nobody holds it any more.
    var loop: EventLoop? {
        guard let retained = unsafe swift_tryRetain(UnsafeMutableRawPointer(bitPattern: self.address))
        else { return nil }
        // The runtime has counted the reference already.
        return unsafe Unmanaged<EventLoop>.fromOpaque(retained).takeRetainedValue()
    }
}

/// Which loop the calling thread runs, if any.
///
/// A POSIX key, because a task-local value would follow tasks and not threads.
enum CurrentLoop {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = unsafe pthread_key_create(&key, nil)
        precondition(status == 0, "the process has no thread-specific key left")
        return key
    }()

    /// The core of the loop that this thread runs; only the thread itself sets it, and it keeps the core alive.
    static var core: Unmanaged<LoopCore>? {
        get { unsafe pthread_getspecific(self.key).map { unsafe Unmanaged.fromOpaque($0) } }
        set {
            _ = unsafe pthread_setspecific(self.key, newValue.map { unsafe UnsafeRawPointer($0.toOpaque()) })
        }
    }
}

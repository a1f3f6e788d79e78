#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

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

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The processor time that the calling thread has used, which does not depend on who else wants the processor.
enum ThreadTime {
    static var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

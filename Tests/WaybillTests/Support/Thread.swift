#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Lets the calling thread rest for a tenth of a millisecond.
func pauseThread() { usleep(100) }

/// Which thread is the calling one.
func currentThread() -> UInt { UInt(bitPattern: Int(bitPattern: UInt(pthread_self()))) }

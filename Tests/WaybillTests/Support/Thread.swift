internal import Foundation

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Runs code on a thread of its own, outside the tasks' threads, which it may hold.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

/// Lets the calling thread rest for a tenth of a millisecond.
func pauseThread() { usleep(100) }

/// Which thread is the calling one.
func currentThread() -> UInt { UInt(bitPattern: Int(bitPattern: UInt(pthread_self()))) }

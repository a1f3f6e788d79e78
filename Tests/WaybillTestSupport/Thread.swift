internal import Foundation
package import WaybillEventLoop

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Runs code on a separate thread, outside of the threads of tasks.
///
/// The code may block the thread.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

/// Pauses the calling thread for a tenth of a millisecond.
package func pauseThread() { usleep(100) }

/// Returns a number that identifies the calling thread.
package func currentThread() -> UInt { UInt(bitPattern: Int(bitPattern: UInt(pthread_self()))) }

/// Returns the loop that runs on the calling thread.
package func currentLoop() -> ObjectIdentifier? { EventLoop.current.map { ObjectIdentifier($0) } }

extension EventLoop {
    /// Runs a closure on the loop, and returns its result.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            self.execute { continuation.resume(returning: body()) }
        }
    }
}

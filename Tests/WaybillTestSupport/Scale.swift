internal import CMeasure
internal import Foundation

/// Returns the number of allocated bytes, or nil if the allocator does not report it or a sanitizer replaces
/// it.
///
/// The number differs from the memory of the process. The allocator keeps some free memory, and more for each
/// thread.
package func memoryInUse() -> Int? {
    let bytes = memory_in_use()
    return Scale.isSanitized || bytes < 0 ? nil : Int(bytes)
}

/// Returns the CPU time of the calling thread, which does not depend on other load.
package func threadTime() -> Duration { .nanoseconds(thread_time()) }

/// Calls a closure three times, and returns the least CPU time of a call.
///
/// The first call often takes longer, because it fills caches.
package func leastThreadTime(_ body: () throws -> Void) rethrows -> Duration {
    var least = Duration.seconds(60)
    for _ in 0..<3 {
        let before = threadTime()
        try body()
        least = min(least, threadTime() - before)
    }
    return least
}

/// The amount of work of a test, which is reduced under a sanitizer, because a sanitizer makes tests ten
/// times slower.
package enum Scale {
    package static let isSanitized = ProcessInfo.processInfo.environment["WAYBILL_SANITIZER"] != nil

    /// Whether the tests run under the address sanitizer, which reports memory that is never released.
    package static let findsLeaks = ProcessInfo.processInfo.environment["WAYBILL_SANITIZER"] == "address"

    /// A duration that a quick operation does not reach on a busy machine, and that a test can wait for.
    package static let whileQuick: Duration = Self.isSanitized ? .seconds(10) : .seconds(2)

    /// A time in which a handler begins on a busy machine, also in another process.
    package static let untilBegun = max(Duration.seconds(3), Self.whileQuick / 2)

    package static func of(_ count: Int) -> Int { Self.isSanitized ? max(1, count / 10) : count }
}

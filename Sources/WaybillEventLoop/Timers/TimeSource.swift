/// Where a loop, and a bus on it, have the time from: the system, or a test that advances it by hand.
@usableFromInline
package struct TimeSource: Sendable {
    /// The time that passes by itself.
    package static let system = Self(manual: nil)

    /// The time that is advanced by hand, if it is.
    package let manual: ManualTime?

    package init(manual: ManualTime?) { self.manual = manual }

    /// Nanoseconds as ``MonotonicTime`` counts them.
    var now: Int64 { self.manual?.now ?? MonotonicTime.now }

    /// The present instant.
    package var instant: ContinuousClock.Instant { self.manual?.instant ?? .now }
}

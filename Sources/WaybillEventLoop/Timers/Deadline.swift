/// A moment by which something has to be done, in whole nanoseconds of `ContinuousClock`; or never.
///
/// An instant's layout is not known at compile time: whatever holds one is copied through the runtime. This
/// is a number.
@usableFromInline
package struct Deadline: Sendable, Hashable, Comparable {
    @usableFromInline package let nanoseconds: Int64

    /// No deadline.
    @inlinable
    package static var never: Self { Self(nanoseconds: .max) }

    @inlinable
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// A deadline at an instant, rounded up to the nanosecond; none if there is no instant.
    package init(_ instant: consuming ContinuousClock.Instant?) {
        if let instant {
            self.nanoseconds = MonotonicTime.nanoseconds(of: instant)
        } else {
            self.nanoseconds = .max
        }
    }

    /// A deadline some time from now on; none if that is beyond what can be counted.
    ///
    /// A time that is not positive is up at once.
    package init(after timeout: Duration, by time: TimeSource) {
        let (sum, overflows) = time.now.addingReportingOverflow(MonotonicTime.nanoseconds(of: timeout))
        self.nanoseconds = overflows ? .max : sum
    }

    /// Whether there is a deadline at all.
    @inlinable
    package var exists: Bool { self.nanoseconds != .max }

    /// Whether the deadline has passed; reads the clock only if there is a deadline.
    @inlinable
    @inline(__always)
    package func hasPassed(by time: @autoclosure () -> TimeSource) -> Bool {
        self.exists && self.isPast(by: time())
    }

    @usableFromInline
    package func isPast(by time: TimeSource) -> Bool { self.nanoseconds <= time.now }

    /// The deadline as an instant, if there is one.
    package var instant: ContinuousClock.Instant? {
        self.exists ? MonotonicTime.instant(self.nanoseconds) : nil
    }

    @inlinable
    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

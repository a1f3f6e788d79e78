/// A time limit in whole nanoseconds of `ContinuousClock`, which may be absent (``never``).
///
/// The size of a `ContinuousClock.Instant` is not known at compile time, so a value that contains an instant
/// is copied by a function of the runtime. This type stores a number instead.
@usableFromInline
package struct Deadline: Sendable, Hashable, Comparable {
    @usableFromInline package let nanoseconds: Int64

    /// No deadline.
    @inlinable
    package static var never: Self { Self(nanoseconds: .max) }

    @inlinable
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates a deadline at an instant, rounded up to the nanosecond; ``never`` if the instant is nil.
    package init(_ instant: consuming ContinuousClock.Instant?) {
        if let instant {
            self.nanoseconds = MonotonicTime.nanoseconds(of: instant)
        } else {
            self.nanoseconds = .max
        }
    }

    /// Creates a deadline after a timeout; ``never`` if the sum overflows.
    ///
    /// If the timeout is not positive, the deadline is now.
    package init(after timeout: Duration, by time: TimeSource) { self.init(after: timeout, from: time.now) }

    /// Creates a deadline after a timeout that begins at a time in nanoseconds; ``never`` if the sum
    /// overflows.
    ///
    /// If the timeout is not positive, the deadline is the beginning.
    package init(after timeout: Duration, from start: Int64) {
        let (sum, overflows) = start.addingReportingOverflow(MonotonicTime.nanoseconds(of: timeout))
        self.nanoseconds = overflows ? .max : sum
    }

    /// Whether the deadline is not ``never``.
    @inlinable
    package var exists: Bool { self.nanoseconds != .max }

    /// Returns whether the deadline has passed.
    ///
    /// The method reads the clock only if the deadline is not ``never``.
    @inlinable
    @inline(__always)
    package func hasPassed(by time: @autoclosure () -> TimeSource) -> Bool {
        self.exists && self.isPast(by: time())
    }

    @usableFromInline
    package func isPast(by time: TimeSource) -> Bool { self.nanoseconds <= time.now }

    /// Returns the deadline of the first of several steps that share the remaining time equally.
    func share(among steps: Int, by time: TimeSource) -> Self {
        guard self.exists else { return self }
        let now = time.now
        return Self(nanoseconds: now + max(0, self.nanoseconds - now) / Int64(steps))
    }

    /// The deadline as an instant; nil if it is ``never``.
    package var instant: ContinuousClock.Instant? {
        self.exists ? MonotonicTime.instant(self.nanoseconds) : nil
    }

    @inlinable
    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

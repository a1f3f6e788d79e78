/// What a loop does when it has nothing to do.
///
/// A thread that sleeps takes tens of microseconds to wake. A loop that spins first answers within one or two, and burns
/// a core meanwhile: worth it when an answer is on its way and a core is free.
public struct IdlePolicy: Hashable, Sendable {
    let nanoseconds: Int64

    /// Sleeps at once.
    public static let park = Self(nanoseconds: 0)

    /// Looks for work for a while, then sleeps.
    ///
    /// - Parameter duration: How long to look after the last work was done. Timers are not late for it.
    /// - Returns: The policy.
    public static func spin(for duration: Duration) -> Self {
        Self(nanoseconds: max(0, duration.wholeNanoseconds))
    }
}

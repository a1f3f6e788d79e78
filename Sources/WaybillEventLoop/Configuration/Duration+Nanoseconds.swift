extension Duration {
    /// Whole nanoseconds, cut off at 146 years so that sums of two do not overflow.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let limit = Int64.max / 2 / 1_000_000_000
        return min(max(seconds, -limit), limit) * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

/// The latest of a growing sequence of numbers, which finds repetitions.
///
/// Only numbers near the greatest one are remembered. A number far below the greatest one is new, and becomes
/// the greatest one: otherwise one forged number could make all later numbers of a node repetitions.
struct RecentNumbers {
    private var greatest = 0
    /// The numbers that have occurred: bit 0 is the greatest number, bit 1 the number below it.
    private var seen: UInt64 = 0

    /// Adds a number that is not negative, and returns whether it has not occurred among the latest numbers.
    mutating func insert(_ number: Int) -> Bool {
        let distance = number - self.greatest
        if distance > 0 || distance <= -UInt64.bitWidth {
            self.seen = (0..<UInt64.bitWidth).contains(distance) ? self.seen << UInt64(distance) | 1 : 1
            self.greatest = number
            return true
        }
        let bit = UInt64(1) << UInt64(-distance)
        guard self.seen & bit == 0 else { return false }
        self.seen |= bit
        return true
    }
}

/// Whole numbers, read from bytes.
enum Decimal {
    /// The number that the bytes spell with `[+-]?[0-9]+`, if it fits.
    static func int(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var index = range.lowerBound
        guard index < range.upperBound else { return nil }
        let isNegative = bytes[index] == UInt8(ascii: "-")
        if isNegative || bytes[index] == UInt8(ascii: "+") { index &+= 1 }
        guard index < range.upperBound else { return nil }
        var value = 0
        while index < range.upperBound {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (tenfold, overflowed) = value.multipliedReportingOverflow(by: 10)
            // Counting downwards for negative numbers reaches the least one as well.
            let (sum, carried) =
                isNegative
                ? tenfold.subtractingReportingOverflow(Int(digit))
                : tenfold.addingReportingOverflow(Int(digit))
            guard !overflowed, !carried else { return nil }
            value = sum
            index &+= 1
        }
        return value
    }
}

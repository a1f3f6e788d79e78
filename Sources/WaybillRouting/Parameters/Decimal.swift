/// Numbers, read from bytes.
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

    /// Whether the bytes spell a decimal number with an optional fraction and exponent.
    static func isDouble(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var index = range.lowerBound
        self.skipSign(bytes, range, &index)
        var digits = self.skipDigits(bytes, range, &index)
        if index < range.upperBound, bytes[index] == UInt8(ascii: ".") {
            index &+= 1
            digits += self.skipDigits(bytes, range, &index)
        }
        guard digits > 0 else { return false }
        if index < range.upperBound, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index &+= 1
            self.skipSign(bytes, range, &index)
            guard self.skipDigits(bytes, range, &index) > 0 else { return false }
        }
        return index == range.upperBound
    }

    private static func skipSign(_ bytes: Span<UInt8>, _ range: Range<Int>, _ index: inout Int) {
        guard index < range.upperBound else { return }
        if bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index &+= 1 }
    }

    private static func skipDigits(_ bytes: Span<UInt8>, _ range: Range<Int>, _ index: inout Int) -> Int {
        let start = index
        while index < range.upperBound, ASCII.isDigit(bytes[index]) { index &+= 1 }
        return index - start
    }
}

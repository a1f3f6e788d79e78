/// Parses decimal numbers from UTF-8 bytes.
enum Decimal {
    /// Returns the value of `[+-]?[0-9]+`, or nil if the bytes have another form or the value does not fit.
    static func int(_ bytes: Span<UInt8>, start: Int, end: Int) -> Int? {
        guard start < end else { return nil }
        let sign = bytes[start]
        let isNegative = sign == UInt8(ascii: "-")
        let first = isNegative || sign == UInt8(ascii: "+") ? start &+ 1 : start
        guard first < end else { return nil }
        if let number = Self.digits(bytes, start: first, end: end) {
            return isNegative ? 0 &- number : number
        }
        return Self.long(bytes, start: first, end: end, isNegative: isNegative)
    }

    /// Returns the value of at most 18 digits, which cannot overflow, or nil for other bytes.
    @inline(__always)
    static func digits(_ bytes: Span<UInt8>, start: Int, end: Int) -> Int? {
        guard start < end, end &- start < 19 else { return nil }
        var value = 0
        for index in start..<end {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value &* 10 &+ Int(digit)
        }
        return value
    }

    @inline(never)
    private static func long(_ bytes: Span<UInt8>, start: Int, end: Int, isNegative: Bool) -> Int? {
        var value = 0
        for index in start..<end {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (tenfold, overflowed) = value.multipliedReportingOverflow(by: 10)
            // `Int.min` has no positive counterpart, so the digits of a negative number are subtracted.
            let (sum, carried) =
                isNegative
                ? tenfold.subtractingReportingOverflow(Int(digit))
                : tenfold.addingReportingOverflow(Int(digit))
            guard !overflowed, !carried else { return nil }
            value = sum
        }
        return value
    }

    /// Returns, for each offset of a range, whether an integer that fits can begin at the offset and end at
    /// an allowed offset.
    ///
    /// Each beginning of an integer is an integer too, so only the first allowed end is tried. The method
    /// takes linear time, because it does not read leading zeros again for each offset.
    static func startsOfInts(_ bytes: Span<UInt8>, _ range: Range<Int>, endingAt allowed: [Bool]) -> [Bool] {
        var result = [Bool](repeating: false, count: range.count + 1)
        // The first allowed end after the offset, and the first one after the next offset.
        var end: Int?
        var endAfterSign: Int?
        for offset in (0..<range.count).reversed() {
            let start = range.lowerBound + offset
            endAfterSign = end
            if allowed[offset + 1] { end = start + 1 }
            switch bytes[start] {
            case UInt8(ascii: "0") where end != start + 1:
                result[offset] = result[offset + 1] && ASCII.isDigit(bytes[start + 1])
            case let byte where ASCII.isDigit(byte):
                // No integer that fits has more than 19 digits after its leading zeros.
                guard let end, end - start <= 19 else { continue }
                result[offset] = self.int(bytes, start: start, end: end) != nil
            case UInt8(ascii: "+"), UInt8(ascii: "-"):
                guard let endAfterSign else { continue }
                result[offset] = self.int(bytes, start: start, end: endAfterSign) != nil
            default: break
            }
        }
        return result
    }

    /// Returns whether the bytes are a decimal number with an optional fraction and exponent.
    static func isDouble(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var index = range.lowerBound
        self.skipSign(bytes, range: range, index: &index)
        var digits = self.skipDigits(bytes, range: range, index: &index)
        if index < range.upperBound, bytes[index] == UInt8(ascii: ".") {
            index &+= 1
            digits += self.skipDigits(bytes, range: range, index: &index)
        }
        guard digits > 0 else { return false }
        if index < range.upperBound, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index &+= 1
            self.skipSign(bytes, range: range, index: &index)
            guard self.skipDigits(bytes, range: range, index: &index) > 0 else { return false }
        }
        return index == range.upperBound
    }

    private static func skipSign(_ bytes: Span<UInt8>, range: Range<Int>, index: inout Int) {
        guard index < range.upperBound else { return }
        if bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index &+= 1 }
    }

    private static func skipDigits(_ bytes: Span<UInt8>, range: Range<Int>, index: inout Int) -> Int {
        let start = index
        while index < range.upperBound, ASCII.isDigit(bytes[index]) { index &+= 1 }
        return index - start
    }
}

internal import WaybillRouting

extension CombiningMarks {
    /// Returns whether no sequence of combining marks in a JSON string exceeds the limit.
    ///
    /// Escapes count as the characters that they represent.
    static func areFew(inEscaped bytes: Span<UInt8>) -> Bool {
        var counter = Counter()
        var index = 0
        while index < bytes.count, !counter.hasMany {
            guard bytes[index] == UInt8(ascii: "\\") else {
                index += counter.add(bytes, at: index)
                continue
            }
            guard bytes[index + 1] == UInt8(ascii: "u") else {
                counter.add(0x20)
                index += 2
                continue
            }
            let unit = Self.unit(bytes, at: index + 2)
            index += 6
            guard UTF16.isLeadSurrogate(UInt16(unit)) else {
                counter.add(unit)
                continue
            }
            // The scanner has checked that the trailing surrogate follows.
            let low = Self.unit(bytes, at: index + 2)
            index += 6
            counter.add(0x1_0000 + (unit - 0xD800) << 10 + low - 0xDC00)
        }
        return !counter.hasMany
    }

    /// Returns the value of four hexadecimal digits.
    private static func unit(_ bytes: Span<UInt8>, at index: Int) -> UInt32 {
        var value: UInt32 = 0
        for place in index..<index + 4 {
            let digit = bytes[place]
            value = value << 4 | UInt32(digit < 0x40 ? digit & 0xF : (digit & 0xF) + 9)
        }
        return value
    }
}

extension JSONScanner {
    /// The text of a string with escapes.
    func unescaped(_ range: Range<Int>) throws(JSONError) -> String {
        var units: [UInt8] = []
        units.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = self.bytes[index]
            guard byte == UInt8(ascii: "\\") else {
                units.append(byte)
                index += 1
                continue
            }
            let escape = self.bytes[index + 1]
            index += 2
            if escape == UInt8(ascii: "u") {
                let scalar = try self.scalar(at: &index, range.upperBound)
                units.append(contentsOf: Array(String(scalar).utf8))
            } else {
                units.append(Self.meaning(of: escape))
            }
        }
        guard let text = String(validating: units, as: UTF8.self) else {
            throw JSONError(offset: range.lowerBound, message: "the string is not UTF-8")
        }
        return text
    }

    private static func meaning(of escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }

    /// The character of `\uXXXX`, or of two of them that are a surrogate pair.
    private func scalar(at index: inout Int, _ end: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try self.unit(at: &index, end)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xdc00, end - index >= 6, self.bytes[index] == UInt8(ascii: "\\"),
            self.bytes[index + 1] == UInt8(ascii: "u")
        else { throw JSONError(offset: index, message: "half of a surrogate pair") }
        index += 2
        let second = try self.unit(at: &index, end)
        guard (0xdc00...0xdfff).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw JSONError(offset: index, message: "half of a surrogate pair") }
        return scalar
    }

    private func unit(at index: inout Int, _ end: Int) throws(JSONError) -> UInt32 {
        guard end - index >= 4 else { throw JSONError(offset: index, message: "`\\u` needs four digits") }
        var unit: UInt32 = 0
        for byte in self.bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw JSONError(offset: index, message: "`\\u` needs four digits")
            }
            unit = unit << 4 | UInt32(digit)
        }
        index += 4
        return unit
    }
}

/// Why a text is not JSON, or not the JSON that its reader expects.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    /// Where, in bytes.
    package let offset: Int
    /// What is wrong, as a part of a sentence.
    package let message: String

    /// Makes an error.
    package init(offset: Int, message: String) {
        self.offset = offset
        self.message = message
    }

    package var description: String { "\(self.message) (byte \(self.offset))" }
}

/// The kinds of JSON values.
package enum JSONKind: String, Sendable {
    case object, array, string, number, boolean, null
}

/// A JSON number.
package enum JSONNumber: Sendable, Hashable {
    case int(Int)
    /// A number with a fraction or an exponent, or one beyond `Int`.
    case double(Double, isInteger: Bool)

    /// The number, as one of the two types.
    package var value: any Sendable {
        switch self {
        case .int(let number): number
        case .double(let number, _): number
        }
    }
}

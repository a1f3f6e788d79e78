/// Limits runs of combining marks in text from outside the program.
///
/// When Swift compares a `String`, hashes it or splits it into characters, the time grows with the square of
/// the length of a run of combining marks. Foundation's decoder and programs that receive the text have the
/// same cost. Therefore, a text with a run longer than the limit is rejected when it arrives. The limit comes
/// from the Stream-Safe Text Format (Unicode Standard Annex 15, section 13).
package enum CombiningMarks {
    /// The maximum number of combining marks in a row.
    package static let limit = 30

    /// The message of an error about a text that exceeds the limit.
    package static let excess =
        "the text has more than \(Self.limit) combining marks in a row: remove some of them"

    /// The number of bytes below which no text can exceed the limit.
    ///
    /// A combining mark has at least two bytes.
    package static let shortestExcess = 2 * (Self.limit + 1)

    /// Returns whether no run of combining marks in a text is longer than the limit.
    package static func areFew(in text: String) -> Bool { self.areFew(in: text.utf8.span) }

    /// Returns whether no run of combining marks in a URL is longer than the limit, also if the marks are
    /// percent-encoded.
    package static func areFew(inURL url: String) -> Bool {
        let bytes = url.utf8.span
        for index in bytes.indices where bytes[index] == UInt8(ascii: "%") {
            return self.areFew(in: PercentCoding.text(bytes, 0..<bytes.count))
        }
        return self.areFew(in: bytes)
    }

    /// Returns whether no run of combining marks in valid UTF-8 is longer than the limit.
    package static func areFew(in bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= self.shortestExcess else { return true }
        var counter = Counter()
        var index = 0
        while index < bytes.count {
            index += counter.add(bytes, at: index)
            if counter.hasMany { return false }
        }
        return true
    }

    /// A counter of the combining marks in the current run.
    ///
    /// The caller adds one character after the other.
    package struct Counter {
        private var run = 0

        package init() {}

        /// Whether the current run is longer than the limit.
        package var hasMany: Bool { self.run > CombiningMarks.limit }

        /// Adds the character at an index of valid UTF-8.
        ///
        /// - Returns: The length of the character in bytes.
        package mutating func add(_ bytes: Span<UInt8>, at index: Int) -> Int {
            // No combining mark begins with a byte less than this byte. U+0300, the first combining mark,
            // begins with this byte.
            if bytes[index] < 0xCC {
                if !UTF8Decoder.isContinuation(bytes[index]) { self.run = 0 }
                return 1
            }
            let (value, length) = UTF8Decoder.scalar(bytes, index: index, end: bytes.count)
            self.add(value)
            return length
        }

        /// Adds a character.
        package mutating func add(_ value: UInt32) {
            let isMark =
                Unicode.Scalar(value).map { $0.properties.canonicalCombiningClass != .notReordered } ?? false
            self.run = isMark ? self.run + 1 : 0
        }
    }
}

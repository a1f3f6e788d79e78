/// Limits runs of combining marks in text from outside.
///
/// Swift compares, hashes and breaks a `String` into characters in time that is quadratic in the length of a
/// run of combining marks, and so do Foundation's decoder and the code of a program that receives the text. A
/// run longer than the limit is therefore refused at the door. The limit is the one of the Stream-Safe Text
/// Format (Unicode Standard Annex 15, section 13).
package enum CombiningMarks {
    /// The maximum number of combining marks in a row.
    package static let limit = 30

    /// The sentence for an error about a text that exceeds the limit.
    package static let excess = "it has more than \(Self.limit) combining marks in a row"

    /// The number of bytes below which no text exceeds the limit: a combining mark takes two bytes or more.
    package static let shortestExcess = 2 * (Self.limit + 1)

    /// Whether a text has no run of combining marks that is longer than the limit.
    package static func areFew(in text: String) -> Bool { self.areFew(in: text.utf8.span) }

    /// Whether valid UTF-8 has no run of combining marks that is longer than the limit.
    package static func areFew(in bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= self.shortestExcess else { return true }
        var (index, run) = (0, 0)
        while index < bytes.count {
            // U+0300, the first combining mark, begins with this byte.
            guard bytes[index] >= 0xCC else {
                run = UTF8Decoder.isContinuation(bytes[index]) ? run : 0
                index += 1
                continue
            }
            let (value, length) = UTF8Decoder.scalar(bytes, index, bytes.count)
            run = self.isCombining(value) ? run + 1 : 0
            if run > self.limit { return false }
            index += length
        }
        return true
    }

    private static func isCombining(_ value: UInt32) -> Bool {
        guard let scalar = Unicode.Scalar(value) else { return false }
        return scalar.properties.canonicalCombiningClass != .notReordered
    }
}

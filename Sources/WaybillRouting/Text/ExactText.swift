/// A text from outside the program as a key.
///
/// The text is compared and hashed by its UTF-8 bytes.
///
/// Swift compares and hashes a `String` by canonical equivalence. The time for this grows with the square of
/// the length of a run of combining marks: hashing a run of 80 KB takes more than a second. Use this type for
/// each dictionary, set and comparison that handles text of a peer.
package struct ExactText: Hashable, Sendable {
    /// The original text.
    package let text: String

    /// Creates a key from a text.
    package init(_ text: String) { self.text = text }

    package static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    package func hash(into hasher: inout Hasher) {
        var text = self.text
        text.withUTF8 { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
        hasher.combine(UInt8(0xFF))
    }
}

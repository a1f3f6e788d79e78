extension String {
    /// Whether another text has the same bytes.
    ///
    /// Texts are equal that look the same in other bytes (`é` in one and in two characters), and these are
    /// two URLs.
    package func hasSameBytes(as other: String) -> Bool {
        let (own, other) = (self.utf8.span, other.utf8.span)
        guard own.count == other.count else { return false }
        if own.count >= 8 { return ByteWord.areEqual(own, other) }
        return ByteWord.few(own) == ByteWord.few(other)
    }
}

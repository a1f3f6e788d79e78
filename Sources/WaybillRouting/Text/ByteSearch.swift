extension String {
    /// Returns whether this text contains the bytes of another text.
    ///
    /// Use this method for text from outside the program. `contains(_:)` compares characters by canonical
    /// equivalence. The time for this comparison grows with the square of the length of a run of combining
    /// marks.
    package func hasBytes(of other: String) -> Bool {
        let (own, other) = (self.utf8.span, other.utf8.span)
        guard other.count > 0 else { return true }
        guard own.count >= other.count else { return false }
        for start in 0...(own.count - other.count) where own[start] == other[0] {
            var length = 1
            while length < other.count, own[start + length] == other[length] { length += 1 }
            if length == other.count { return true }
        }
        return false
    }
}

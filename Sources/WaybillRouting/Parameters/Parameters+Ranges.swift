extension Parameters {
    /// The byte ranges of the path values in the text of the address.
    package var pathRanges: [(name: String, range: Range<Int>)] {
        guard let names = self.names else { return [] }
        return names.names.indices.map { index in
            (names.names[index], self.captured(index).range)
        }
    }
}

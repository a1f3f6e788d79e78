extension Parameters {
    /// Where the values of the path stand in the text of the address, in bytes.
    package var pathRanges: [(name: String, range: Range<Int>)] {
        guard let names = self.names else { return [] }
        return names.names.indices.map { index in
            (names.names[index], self.captured(index).range)
        }
    }
}

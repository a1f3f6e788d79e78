extension String {
    /// Whether at most 30 combining marks follow each other, as in the Stream-Safe Text Format of Unicode
    /// (UAX #15).
    ///
    /// To compare or hash a text with longer runs takes time that is quadratic in their length. A text from
    /// outside is either refused for that before it becomes the key of a dictionary, or is an ``ExactText``
    /// there.
    package var isStreamSafe: Bool {
        let bytes = self.utf8.span
        var isASCII = true
        for index in bytes.indices where bytes[index] > 0x7F {
            isASCII = false
            break
        }
        if isASCII { return true }
        var marks = 0
        for scalar in self.unicodeScalars {
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            if marks > 30 { return false }
        }
        return true
    }
}

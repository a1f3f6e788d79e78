extension String {
    /// Returns the text with all occurrences of another text replaced.
    ///
    /// The comparison is by bytes, as in the compilers and shells that read the text. `replacing(_:with:)`
    /// compares characters, and would not find a quotation mark that is combined with another scalar.
    package func replacingBytes(_ old: String, with new: String) -> String {
        String(decoding: Array(self.utf8).replacing(Array(old.utf8), with: Array(new.utf8)), as: UTF8.self)
    }
}

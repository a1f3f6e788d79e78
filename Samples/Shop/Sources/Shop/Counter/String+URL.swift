extension String {
    /// The text without spaces and tabs around it.
    var trimmed: String {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = self.utf8.first, let last = self.utf8.last, isBlank(first) || isBlank(last) else {
            return self
        }
        var rest = self.utf8.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return String(Substring(rest))
    }

    /// Whether the query of the URL has a session.
    var namesSession: Bool {
        var rest = self.utf8[...]
        while let mark = rest.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "&") }) {
            rest = rest[rest.index(after: mark)...]
            if rest.starts(with: "session=".utf8) { return true }
        }
        return false
    }
}

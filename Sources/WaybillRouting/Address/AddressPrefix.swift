extension Address {
    /// What stands before the first segment and is none: the host, where the conventions keep it apart, and a
    /// leading verb, in lower case.
    package var prefix: (host: String?, verb: String?) {
        let conventions = self.rules.conventions
        let bytes = self.text.utf8.span
        let start = self.hasScheme ? self.layout.schemeEnd + 1 : 0
        var ends: [Range<Int>] = []
        var from = start
        for index in start..<max(start, self.layout.pathStart) where bytes[index] == UInt8(ascii: "/") {
            if index > from { ends.append(from..<index) }
            from = index + 1
        }
        if from < self.layout.pathStart { ends.append(from..<self.layout.pathStart) }
        var parts = ends.map { PercentCoding.text(bytes, $0) }
        let isHost = ends.first?.lowerBound == start + 2 && conventions.host != .isFirstSegment
        let isApart = isHost && (conventions.host == .isIgnored || parts[0].contains("."))
        let host = isApart ? parts.removeFirst() : nil
        return (host, parts.last?.lowercased())
    }
}

/// Patterns that can be printed without parsing.
///
/// Plain patterns consist of literal segments of unreserved characters, and of placeholders that are whole
/// segments.
///
/// The URL of a plain pattern certainly contains the values unchanged. ``RoutePattern/url(with:)`` prints all
/// other patterns, and its errors describe the values that it rejects.
package enum PlainPattern {
    /// The maximum length of a URL, in bytes.
    ///
    /// The general method handles longer URLs, because it checks the limits.
    private static let lengthLimit = 1_024

    /// Returns whether a pattern has no placeholder and matches only the URL with the same text.
    package static func isURL(_ pattern: String) -> Bool {
        let bytes = pattern.utf8.span
        guard let start = self.endOfScheme(bytes), bytes.count <= self.lengthLimit else { return false }
        let path = bytes.extracting(droppingFirst: start)
        var isFirst = true
        for index in path.indices {
            let byte = path[index]
            guard ASCII.isUnreservedOrSlash(byte) else { return false }
            if isFirst, byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") { return false }
            isFirst = byte == UInt8(ascii: "/")
        }
        return !isFirst
    }

    /// Returns the URL of a pattern with values.
    ///
    /// Values that the pattern does not name become the query, in their order.
    ///
    /// - Returns: The URL; nil if the pattern or a value is not plain.
    package static func url(_ pattern: String, _ values: [(name: String, text: String)]) -> String? {
        let bytes = pattern.utf8.span
        guard let start = self.endOfScheme(bytes) else { return nil }
        var url = bytes.extracting(..<start).copied
        var names: [String] = []
        var index = start
        while index < bytes.count {
            let end = self.endOfSegment(bytes, index)
            guard end > index else { return nil }
            if bytes[index] == UInt8(ascii: ":") {
                // A value cannot be the host, because a host may be compared without regard to case and then
                // change.
                guard index > start, let name = self.name(bytes, start: index &+ 1, end: end),
                    !names.contains(name),
                    let value = self.only(name, of: values), self.isPlain(value)
                else { return nil }
                names.append(name)
                url += Address.encode(value).utf8
            } else {
                for position in index..<end {
                    guard ASCII.isUnreserved(bytes[position]), bytes[index] != UInt8(ascii: ".") else {
                        return nil
                    }
                    url.append(bytes[position])
                }
            }
            if end < bytes.count { url.append(UInt8(ascii: "/")) }
            index = end &+ 1
        }
        guard index == bytes.count &+ 1 else { return nil }
        var isFirst = true
        for (name, text) in values where !names.contains(name) {
            url.append(UInt8(ascii: isFirst ? "?" : "&"))
            url += "\(Address.encode(name))=\(Address.encode(text))".utf8
            isFirst = false
        }
        return url.count <= self.lengthLimit ? String(decoding: url, as: UTF8.self) : nil
    }

    /// Returns the start of the first segment; nil when the pattern has no scheme or its scheme is not in
    /// lower case.
    private static func endOfScheme(_ bytes: Span<UInt8>) -> Int? {
        var index = 0
        while index < bytes.count, ASCII.isLetter(bytes[index]), bytes[index] & 0x20 != 0 { index &+= 1 }
        guard index > 0, index &+ 3 < bytes.count, bytes[index] == UInt8(ascii: ":"),
            bytes[index &+ 1] == UInt8(ascii: "/"), bytes[index &+ 2] == UInt8(ascii: "/")
        else { return nil }
        return index &+ 3
    }

    private static func endOfSegment(_ bytes: Span<UInt8>, _ start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] != UInt8(ascii: "/") { index &+= 1 }
        return index
    }

    private static func name(_ bytes: Span<UInt8>, start: Int, end: Int) -> String? {
        guard start < end, ASCII.isNameHead(bytes[start]) else { return nil }
        for index in start..<end where !ASCII.isNameTail(bytes[index]) { return nil }
        return String(decoding: bytes.extracting(start..<end).copied, as: UTF8.self)
    }

    private static func only(_ name: String, of values: [(name: String, text: String)]) -> String? {
        var found: String?
        for value in values where value.name == name {
            guard found == nil else { return nil }
            found = value.text
        }
        return found
    }

    /// Returns whether the text can be a segment.
    private static func isPlain(_ value: String) -> Bool {
        !value.isEmpty && value.utf8.first != UInt8(ascii: ".")
    }
}

extension Span<UInt8> {
    fileprivate var copied: [UInt8] { self.indices.map { self[$0] } }
}

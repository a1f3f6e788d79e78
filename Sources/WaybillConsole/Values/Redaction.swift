#if HTTP
/// Hides values by their names before anything is kept: `password=hunter2` becomes `password=…`.
struct Redaction: Sendable {
    /// What stands for a hidden value.
    static let mark = "…"

    /// The most bytes of a URL that are kept.
    private static let longestURL = 2048

    private let names: [String]

    /// - Parameter names: the names; case, `-` and `_` make no difference.
    init(_ names: Set<String>) { self.names = names.map { Self.plain($0) }.filter { !$0.isEmpty }.sorted() }

    /// Whether a name is one of those, or contains one.
    func hides(_ name: some StringProtocol) -> Bool {
        let plain = Self.plain(name)
        return self.names.contains { plain.contains($0) }
    }

    private static func plain(_ name: some StringProtocol) -> String {
        name.lowercased().filter { $0 != "-" && $0 != "_" }
    }

    /// A URL as it may be shown, and what was hidden in it.
    struct ShownURL: Sendable {
        let text: String
        /// The hidden values as the URL has them, and as handlers read them.
        let hidden: [String]
    }

    /// Hides values of the query, of the fragment, which is a URL as well, and of parameters in the path.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - path: where the parameters of the path stand in it, in bytes.
    /// - Returns: the URL without them.
    func url(_ url: String, path: [(name: String, range: Range<Int>)] = []) -> ShownURL {
        let bytes = Array(url.utf8)
        var ranges = path.filter {
            !$0.range.isEmpty && $0.range.upperBound <= bytes.count && self.hides($0.name)
        }
        .map(\.range)
        if let user = Self.userInformation(in: bytes) { ranges.append(user) }
        ranges += self.items(in: bytes)
        ranges.sort { $0.lowerBound < $1.lowerBound }
        var (shown, hidden, end): ([UInt8], [String], Int) = ([], [], 0)
        for range in ranges where range.lowerBound >= end {
            shown += bytes[end..<range.lowerBound]
            shown += Self.mark.utf8
            let value = bytes[range]
            hidden.append(String(decoding: value, as: UTF8.self))
            hidden.append(PercentEscapes.decoded(value))
            end = range.upperBound
        }
        shown += bytes[end...]
        return ShownURL(text: Self.shortened(shown), hidden: hidden)
    }

    /// A sentence without values that were hidden elsewhere.
    func sentence(_ text: String, without hidden: [String]) -> String {
        // A short value is part of many words; it is hidden all the same, since the sentence may be its end.
        hidden.reduce(text) { $1.isEmpty ? $0 : Self.replacing($1, in: $0) }
    }

    /// Where the values of hidden names stand behind the path.
    private func items(in bytes: [UInt8]) -> [Range<Int>] {
        func isSeparator(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "?") || byte == UInt8(ascii: "&") || byte == UInt8(ascii: ";")
                || byte == UInt8(ascii: "#")
        }
        var ranges: [Range<Int>] = []
        var index = bytes.firstIndex(where: isSeparator) ?? bytes.endIndex
        while index < bytes.endIndex {
            let start = index + 1
            let end = bytes[start...].firstIndex(where: isSeparator) ?? bytes.endIndex
            if let equals = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")), equals + 1 < end,
                self.hides(PercentEscapes.decoded(bytes[start..<equals]))
            {
                ranges.append((equals + 1)..<end)
            }
            index = end
        }
        return ranges
    }

    /// Where a name and a password stand before the host.
    private static func userInformation(in bytes: [UInt8]) -> Range<Int>? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes.count > colon + 3,
            bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/")
        else { return nil }
        let start = colon + 3
        let end = bytes[start...].firstIndex {
            [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0)
        }
        guard let at = bytes[start..<(end ?? bytes.endIndex)].lastIndex(of: UInt8(ascii: "@")), at > start
        else {
            return nil
        }
        return start..<at
    }

    private static func shortened(_ bytes: [UInt8]) -> String {
        guard bytes.count > Self.longestURL else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes[..<Self.longestURL], as: UTF8.self) + Self.mark
    }

    private static func replacing(_ value: String, in text: String) -> String {
        var (rest, result) = (text[...], "")
        while let range = rest.firstRange(of: value) {
            result += rest[..<range.lowerBound]
            result += Self.mark
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

/// The escapes of URLs and forms.
enum PercentEscapes {
    /// A part of a query or a form without its escapes.
    static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        var decoded: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
                let value = UInt8(
                    String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self),
                    radix: 16
                )
            {
                decoded.append(value)
                index += 3
            } else {
                decoded.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
#endif

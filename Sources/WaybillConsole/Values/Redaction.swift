#if HTTP
internal import WaybillRouting

/// Hides values because of their names: `password=hunter2` becomes `password=…`.
///
/// The console keeps only texts in which such values are hidden.
struct Redaction: Sendable {
    /// The text that replaces a hidden value.
    static let mark = "…"

    /// The maximum size of a shown URL, in bytes.
    private static let longestURL = 2048

    private let names: [String]

    /// Creates a redaction for names, and ignores their case, `-` and `_`.
    init(_ names: Set<String>) { self.names = names.map { Self.plain($0) }.filter { !$0.isEmpty }.sorted() }

    /// Returns whether a name is or contains one of the hidden names.
    func hides(_ name: some StringProtocol) -> Bool {
        let plain = Self.plain(name)
        return self.names.contains { plain.hasBytes(of: $0) }
    }

    private static func plain(_ name: some StringProtocol) -> String {
        let bytes = name.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A URL in the form that may be shown, and the values that were hidden in it.
    struct ShownURL: Sendable {
        let text: String
        /// The hidden values, in the spelling of the URL and in the decoded form that handlers read.
        let hidden: [String]
    }

    /// Returns a URL without the values of hidden names, and without the user information before the host.
    ///
    /// Values are hidden in the path, in the query, and in the fragment, which may be a return URL with its
    /// own query. If the fragment contains encoded delimiters of a URL, the whole fragment is hidden.
    ///
    /// `path` contains the ranges of the path parameters, in bytes.
    func url(_ url: String, path: [(name: String, range: Range<Int>)] = []) -> ShownURL {
        let bytes = Array(url.utf8)
        var ranges = path.filter {
            !$0.range.isEmpty && $0.range.upperBound <= bytes.count && self.hides($0.name)
        }
        .map(\.range)
        if let user = Self.userInformation(in: bytes) { ranges.append(user) }
        ranges += self.items(in: bytes)
        if let fragment = Self.encodedFragment(in: bytes) { ranges.append(fragment) }
        ranges.sort { ($0.lowerBound, $1.upperBound) < ($1.lowerBound, $0.upperBound) }
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

    /// Returns a sentence in which values that are hidden elsewhere are replaced.
    func sentence(_ text: String, without hidden: [String]) -> String {
        // A short value possibly occurs inside other words. Every occurrence is hidden, because it is
        // possibly the value.
        hidden.reduce(text) { text, value in
            Self.spellings(of: value).reduce(text) { $1.isEmpty ? $0 : Self.replacing($1, in: $0) }
        }
    }

    /// Returns the forms in which sentences may contain a value: unchanged, on one line, and shortened.
    private static func spellings(of value: String) -> [String] {
        let cut = String(String.UnicodeScalarView(value.unicodeScalars.prefix(SafeText.limit)))
        return [value, SafeText.line(value), SafeText.line(cut)]
    }

    /// Returns the ranges of the values of hidden names in the query and in the fragment.
    ///
    /// A fragment may contain such values even without a `?`.
    private func items(in bytes: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for section in bytes.split(separator: UInt8(ascii: "#"), omittingEmptySubsequences: false) {
            let mark = section.firstIndex(of: UInt8(ascii: "?"))
            guard let start = mark.map({ $0 + 1 }) ?? (section.startIndex > 0 ? section.startIndex : nil)
            else { continue }
            // Only `&` ends a value, as in the bus's own reading of a query.
            for item in section[start...].split(separator: UInt8(ascii: "&")) {
                guard let equals = item.firstIndex(of: UInt8(ascii: "=")), equals + 1 < item.endIndex,
                    self.hides(PercentEscapes.decoded(item[..<equals]))
                else { continue }
                ranges.append((equals + 1)..<item.endIndex)
            }
        }
        return ranges
    }

    /// Returns the range of the fragment if its path contains encoded delimiters of a URL; nil otherwise.
    ///
    /// The fragment may be an encoded return URL. The bus decodes the URL only when it sends the message to
    /// the return URL.
    private static func encodedFragment(in bytes: [UInt8]) -> Range<Int>? {
        guard let hash = bytes.firstIndex(of: UInt8(ascii: "#")) else { return nil }
        let fragment = bytes[(hash + 1)...]
        let path = fragment.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let encoded = path.indices.dropLast(2).contains { index in
            path[index] == UInt8(ascii: "%")
                && Self.delimiters.contains(PercentEscapes.decoded(path[index..<(index + 3)]))
        }
        return encoded ? fragment.indices : nil
    }

    private static let delimiters: Set<String> = [":", "/", "?", "#", "&", "=", "%"]

    /// Returns the range of the user name and the password before the host.
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

    /// Returns a text in which the mark replaces a value.
    ///
    /// The method compares bytes, because comparing characters takes quadratic time for some texts.
    private static func replacing(_ value: String, in text: String) -> String {
        guard text.hasBytes(of: value) else { return text }
        let (value, text) = (Array(value.utf8), Array(text.utf8))
        var (result, index) = ([UInt8](), 0)
        while index < text.count {
            if text[index...].starts(with: value) {
                result += Self.mark.utf8
                index += value.count
            } else {
                result.append(text[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// The decoding of escapes in URLs and forms.
enum PercentEscapes {
    /// Returns a part of a query or a form, with its escapes decoded.
    static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        let bytes = bytes.span
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let (value, length) = PercentCoding.byte(bytes, index: index, end: bytes.count)
            // In a form, a plus sign that is not encoded is a space.
            decoded.append(length == 1 && value == UInt8(ascii: "+") ? UInt8(ascii: " ") : value)
            index += length
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
#endif

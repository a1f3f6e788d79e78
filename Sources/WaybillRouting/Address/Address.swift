/// A parsed URL: scheme, segments, query and fragment.
///
/// By default, the host is the first segment.
///
/// An address stores the text of the URL and the offsets of its parts. A part is copied and decoded each time
/// it is read. Two addresses are equal if their parts are equal after decoding: `app://feed/detail` equals
/// `APP:///feed/detail/`.
public struct Address: Sendable {
    /// The original URL, or the decoded URL if the conventions decode a URL that is percent-encoded as a
    /// whole.
    public let text: String
    let layout: AddressLayout
    let rules: RoutingRules

    /// Creates an address by parsing a URL.
    ///
    /// - Parameters:
    ///   - text: The URL, with or without a scheme.
    ///   - conventions: The rules for reading the URL.
    ///   - defaultScheme: The scheme of a URL without one.
    ///   - limits: The upper bounds on the URL.
    /// - Throws: ``RoutingError/Code/invalidURL`` with a message that describes the problem.
    public init(
        _ text: String,
        conventions: RoutingConventions = .waybill,
        defaultScheme: String = "app",
        limits: RoutingLimits = .default
    ) throws(RoutingError) {
        try self.init(text, .shared(conventions: conventions, defaultScheme: defaultScheme, limits: limits))
    }

    init(_ text: String, _ rules: RoutingRules) throws(RoutingError) {
        var scan = InlineScan()
        if scan.read(text.utf8.span, rules) == nil, !scan.hasOverflowed {
            self.init(text: text, layout: scan.layout, rules: rules)
        } else {
            var scan = HeapScan()
            self = try scan.address(text, rules)
        }
    }

    init(text: String, layout: AddressLayout, rules: RoutingRules) {
        self.text = text
        self.layout = layout
        self.rules = rules
    }

    /// Returns the address in another URL, which is read by the rules of this address.
    ///
    /// - Throws: `invalidURL`.
    package func rereading(_ url: String) throws(RoutingError) -> Address { try Address(url, self.rules) }
}

extension Address {
    /// Whether the URL contains a scheme.
    public var hasScheme: Bool { self.layout.schemeEnd > 0 }

    /// The scheme in the form that the conventions compare.
    ///
    /// It is the default scheme when the URL has no scheme.
    public var scheme: String {
        guard self.hasScheme else { return self.rules.defaultScheme }
        let scheme = PercentCoding.text(self.text.utf8.span, 0..<self.layout.schemeEnd)
        return self.rules.conventions.folded(scheme: scheme)
    }

    /// Whether the conventions ignore the case of segments.
    package var ignoresCase: Bool { self.rules.foldsCase }

    /// The URL with its scheme, which another process needs because its default scheme can be different.
    package var completeURL: String { self.hasScheme ? self.text : self.text(withScheme: self.scheme) }

    /// Returns the text of an address without a scheme with a scheme in front.
    package func text(withScheme scheme: String) -> String {
        let path = self.text.drop { $0 == "/" }
        if self.rules.conventions.host == .isFirstSegment { return "\(scheme)://\(path)" }
        // A host follows two slashes. A URL without a scheme has a host only if it begins with two slashes.
        let hasHost = self.text.hasPrefix("//") && !self.text.hasPrefix("///")
        return hasHost ? "\(scheme):\(self.text)" : "\(scheme):///\(path)"
    }

    /// Returns whether a text is a valid scheme (RFC 3986, 3.1).
    package static func isScheme(_ text: String) -> Bool {
        text.utf8.first.map(ASCII.isLetter) == true && text.utf8.allSatisfy(ASCII.isSchemeTail)
    }

    /// The path without decoding, from the first segment to the query.
    public var path: String {
        let bytes = self.text.utf8.span
        let end = self.layout.pathEnd
        var start = self.layout.pathStart
        while start < end, bytes[start] == UInt8(ascii: "/") { start += 1 }
        return self.text(start..<end)
    }

    /// The decoded segments.
    ///
    /// The host is the first segment, unless the conventions treat hosts differently.
    public var segments: [String] {
        let bytes = self.text.utf8.span
        return self.segmentRanges.map { PercentCoding.text(bytes, $0) }
    }

    /// The query without decoding and without its question mark; nil when the URL has no query.
    public var query: String? {
        guard self.layout.hasQuery else { return nil }
        return self.text(self.layout.pathEnd + 1..<self.layout.queryEnd)
    }

    /// The text after `#` without decoding; nil when the URL has no fragment.
    ///
    /// The text is not decoded because it can itself be a URL.
    public var fragment: String? {
        guard self.layout.hasFragment else { return nil }
        return self.text(self.layout.queryEnd + 1..<self.text.utf8.count)
    }

    /// The decoded query items that have a name, in the order of the URL.
    public var queryItems: [(name: String, value: String)] {
        let bytes = self.text.utf8.span
        var cursor = QueryItems(self.layout, self.rules)
        var items: [(name: String, value: String)] = []
        while let item = cursor.next(bytes) {
            guard item.value != nil || self.rules.conventions.keepsQueryNamesWithoutValue else { continue }
            let value = item.value.map { PercentCoding.text(bytes, $0) } ?? ""
            items.append((PercentCoding.text(bytes, item.name), value))
        }
        return items
    }

    var segmentRanges: [Range<Int>] {
        Self.segments(of: self.text.utf8.span, self.layout.pathStart..<self.layout.pathEnd)
    }

    /// Returns the ranges of the segments in a part of a path.
    static func segments(of bytes: Span<UInt8>, _ part: Range<Int>) -> [Range<Int>] {
        let end = part.upperBound
        var ranges: [Range<Int>] = []
        var start = part.lowerBound
        for index in start...end where index == end || bytes[index] == UInt8(ascii: "/") {
            if index > start { ranges.append(start..<index) }
            start = index + 1
        }
        return ranges
    }

    private func text(_ range: Range<Int>) -> String { Self.text(self.text, range) }

    /// Returns the text of a byte range, without decoding.
    static func text(_ text: String, _ range: Range<Int>) -> String {
        let view = text.utf8
        let start = view.index(view.startIndex, offsetBy: range.lowerBound)
        return String(text[start..<view.index(start, offsetBy: range.count)])
    }
}

extension Address {
    /// Percent-encodes text for use as one segment, or as the name or value of one query item.
    ///
    /// Every byte outside the unreserved characters of RFC 3986 is encoded.
    ///
    /// ```swift
    /// bus.send("app://log/write?text=\(Address.encode("a & b"))")
    /// ```
    public static func encode(_ text: String) -> String { PercentCoding.encode(text: text) }
}

extension Address: Hashable {
    /// Compares the scheme, the decoded segments, the fragment and the decoded query items, in order.
    public static func == (left: Self, right: Self) -> Bool {
        left.scheme == right.scheme && left.fragment == right.fragment && left.segments == right.segments
            && left.queryItems.elementsEqual(right.queryItems, by: ==)
    }

    /// Hashes the scheme, the segments and the fragment.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.scheme)
        hasher.combine(self.segments)
        hasher.combine(self.fragment)
    }
}

extension Address: CustomStringConvertible {
    /// The value of ``text``.
    public var description: String { self.text }
}

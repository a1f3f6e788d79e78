extension Address {
    /// The transition that the URL names; nil when the URL does not begin with one of
    /// ``RoutingConventions/leadingVerbs``.
    ///
    /// The letter case of the verb does not matter. The property reads the text of the URL at each access, so
    /// an address without a transition stores nothing for it.
    public var transition: RouteTransition? {
        let conventions = self.rules.conventions
        guard !conventions.leadingVerbs.isEmpty, let verb = self.parts.verb else { return nil }
        return RouteTransition(rawValue: PercentCoding.text(self.text.utf8.span, verb))
    }

    /// The host, decoded; nil if the URL has no host, or the conventions make the host the first segment.
    public var host: String? { self.parts.host.map { PercentCoding.text(self.text.utf8.span, $0) } }

    /// Returns the URL with another transition or without a transition, and without the URL's fragment.
    ///
    /// - Parameter transition: The transition to put before the path; nil for none.
    /// - Returns: The URL, with its scheme.
    package func url(with transition: RouteTransition?) -> String {
        let host = self.parts.host.map { Self.text(self.text, $0) + "/" } ?? ""
        let verb = transition.map { Self.encode($0.rawValue) } ?? ""
        let path = self.path
        // If hosts are not segments, a URL parser reads the text after two slashes as a host.
        let hasHost = self.rules.conventions.host == .isFirstSegment || !host.isEmpty || !path.contains(".")
        let slashes = hasHost && self.rules.conventions.host != .isIgnored || !host.isEmpty ? "://" : ":///"
        let query = self.query.map { "?" + $0 } ?? ""
        return
            "\(self.scheme)\(slashes)\(host)\(verb)\(verb.isEmpty || path.isEmpty ? "" : "/")\(path)\(query)"
    }

    /// The host and the transition before the path, neither of which is a segment.
    private var parts: (host: Range<Int>?, verb: Range<Int>?) {
        let bytes = self.text.utf8.span
        let start = self.layout.schemeEnd == 0 ? 0 : self.layout.schemeEnd + 1
        guard start < self.layout.pathStart else { return (nil, nil) }
        let ranges = Self.segments(of: bytes, start..<self.layout.pathStart)
        let conventions = self.rules.conventions
        guard let first = ranges.first else { return (nil, nil) }
        let isHost =
            ranges.count > 1 || !RoutingRules.isVerb(bytes, first, of: conventions)
            || conventions.host == .isIgnored && first.lowerBound == start + 2
        return isHost ? (first, ranges.count > 1 ? ranges[1] : nil) : (nil, first)
    }
}

extension RoutingRules {
    /// Returns whether a segment is a leading verb of the conventions, in any letter case.
    static func isVerb(_ bytes: Span<UInt8>, _ range: Range<Int>, of conventions: RoutingConventions) -> Bool
    {
        guard !conventions.leadingVerbs.isEmpty else { return false }
        return conventions.leadingVerbs.contains(PercentCoding.text(bytes, range).lowercased())
    }
}

extension RoutePattern {
    /// Returns the URL in which the pattern finds these values.
    ///
    /// Values are percent-encoded as needed. Values that the pattern does not name become the query, sorted
    /// by name. An optional group is printed when `values` contains all of its values.
    ///
    /// - Parameter values: The text of each parameter. In the value of a catch-all segment, `/` separates the
    ///   segments.
    /// - Returns: The URL, with the scheme of the pattern.
    /// - Throws: ``RoutingError/Code/missingParameter`` that names the missing parameter, or
    ///   ``RoutingError/Code/invalidParameter`` for a value that the pattern would not extract unchanged from
    ///   the URL.
    public func url(with values: [String: String]) throws(RoutingError) -> String {
        let printer = PatternPrinter(pattern: self, values: values)
        return try printer.print()
    }

    /// Whether the pattern can be printed.
    ///
    /// A wildcard without a name cannot be printed, because it has no value.
    package var canBePrinted: Bool {
        self.variants.joined()
            .allSatisfy { segment in
                switch segment {
                case .any, .rest("**"): false
                case .compound(let pieces):
                    pieces.allSatisfy { piece in
                        if case .value(nil, _) = piece { false } else { true }
                    }
                case .literal, .placeholder, .rest: true
                }
            }
    }
}

/// Prints a URL from a pattern and values.
struct PatternPrinter {
    let pattern: RoutePattern
    let values: [String: String]

    func print() throws(RoutingError) -> String {
        var missing: String?
        for variant in self.pattern.variants {
            missing = variant.lazy.flatMap(\.parameters).map(\.name).first { self.values[$0] == nil }
            if missing == nil { return try self.print(variant) }
        }
        throw RoutingError(
            .missingParameter,
            url: self.pattern.text,
            message: "the value for `\(missing ?? "")` is missing"
        )
    }

    private func print(_ variant: [PatternSegment]) throws(RoutingError) -> String {
        var segments: [String] = []
        for segment in variant { segments.append(try self.print(segment)) }
        let hasHost = self.pattern.rules.conventions.host == .isFirstSegment
        var url = self.pattern.scheme + (hasHost ? "://" : ":/") + segments.joined(separator: "/")
        let named = Set(variant.flatMap(\.parameters).map(\.name))
        let query = self.values.filter { !named.contains($0.key) }.sorted { $0.key < $1.key }
        for (index, item) in query.enumerated() {
            guard !item.key.isEmpty else { throw self.invalid("", "a query item needs a name") }
            url += index == 0 ? "?" : "&"
            url += "\(PercentCoding.encode(item.key.utf8))=\(PercentCoding.encode(item.value.utf8))"
        }
        try self.check(url)
        return url
    }

    private func print(_ segment: PatternSegment) throws(RoutingError) -> String {
        switch segment {
        case .literal(let text): return PercentCoding.encode(text)
        case .any: throw self.unnamed()
        case .placeholder(let name): return PercentCoding.encode(try self.value(name).utf8)
        case .rest(let name):
            let parts = try self.value(name).split(separator: "/", omittingEmptySubsequences: false)
            guard !parts.contains("") else { throw self.invalid(name, "has an empty segment") }
            return parts.map { PercentCoding.encode($0.utf8) }.joined(separator: "/")
        case .compound(let pieces):
            var text = ""
            for piece in pieces {
                switch piece {
                case .literal(let literal): text += PercentCoding.encode(literal)
                case .value(nil, _): throw self.unnamed()
                case .value(let name?, let constraint):
                    let value = try self.value(name)
                    guard constraint.allows(value.utf8.span, 0..<value.utf8.count) else {
                        throw self.invalid(name, "is not \(constraint.noun): \(value)")
                    }
                    text += PercentCoding.encode(value.utf8)
                }
            }
            return text
        }
    }

    private func value(_ name: String) throws(RoutingError) -> String {
        let value = self.values[name] ?? ""
        guard !value.isEmpty else { throw self.invalid(name, "is empty") }
        return value
    }

    /// Matches the printed URL and compares the values, because the border between adjacent values may be
    /// ambiguous.
    private func check(_ url: String) throws(RoutingError) {
        var trie = RouteTrie(rules: self.pattern.rules)
        _ = try trie.insert(self.pattern, fileID: "", line: 0)
        let read = try FrozenTrie(trie).match(url)?.parameters.all ?? [:]
        guard read != self.values else { return }
        let name = self.values.keys.sorted().first { read[$0] != self.values[$0] } ?? ""
        throw self.invalid(name, "is read back as another value from \(url): choose another value")
    }

    private func unnamed() -> RoutingError {
        RoutingError(
            .missingParameter,
            url: self.pattern.text,
            message: "`*` has no name, so no value can be given for it: use a placeholder with a "
                + "name, such as `:id`"
        )
    }

    private func invalid(_ name: String, _ message: String) -> RoutingError {
        RoutingError(.invalidParameter, url: self.pattern.text, message: "`\(name)` \(message)")
    }
}

extension RoutePattern {
    /// The URL that gives these values back when it is matched against the pattern.
    ///
    /// What has to be is percent-encoded. Values that the pattern does not name become the query, in the order of
    /// their names; an optional group is printed when all its values are there.
    ///
    /// - Parameter values: the text of each parameter; the segments of a rest are joined by `/`.
    /// - Returns: the URL, with the scheme of the pattern.
    /// - Throws: ``RoutingError/Code/missingParameter`` that names what is missing, or
    ///   ``RoutingError/Code/invalidParameter`` for a value that the pattern would not give back.
    public func url(with values: [String: String]) throws(RoutingError) -> String {
        let printer = PatternPrinter(pattern: self, values: values)
        return try printer.print()
    }

    /// Whether there are values that a URL can be made of: what has no name gets none.
    package var canBePrinted: Bool {
        self.variants.joined()
            .allSatisfy { segment in
                switch segment {
                case .any, .rest("**"): false
                case .mixed(let pieces):
                    pieces.allSatisfy { piece in
                        if case .value(nil, _) = piece { false } else { true }
                    }
                case .literal, .placeholder, .rest: true
                }
            }
    }
}

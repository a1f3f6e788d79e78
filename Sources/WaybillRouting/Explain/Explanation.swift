/// The explanation why a URL matches its route, or why it matches no route.
public struct Explanation: Sendable {
    /// A value that does not have the type of its parameter.
    public struct Failure: Sendable, Hashable {
        /// The name of the parameter.
        public let name: String
        /// The name of the type, as patterns spell it.
        public let type: String
        /// The value.
        public let text: String
        /// The pattern that would match a value of the type.
        public let pattern: String
        /// The failure as a sentence: `uid` is not an int: abc.
        public let message: String
    }

    /// The URL.
    public let url: String
    /// The matching route, or nil.
    public let route: Route?
    /// The parameters of the match.
    ///
    /// If no route matches, the property contains the parameters of the query. It is nil if the URL is
    /// invalid.
    public let parameters: Parameters?
    /// The error if the URL matches no route or is invalid; otherwise nil.
    public let error: RoutingError?
    /// The index of the first segment that no pattern continues to match; nil when the patterns match all
    /// segments.
    public let stoppedAt: Int?
    /// The value of the wrong type, if a match fails only because of this value; otherwise nil.
    public let failure: Failure?
    /// The patterns that are most similar to the URL.
    ///
    /// The most similar pattern is first.
    public let nearest: [String]
    /// The steps of the search, with one line for each.
    public let trace: [String]
}

extension RouteTable {
    /// Explains why a URL matches its route, or why it matches no route.
    ///
    /// The method calls no handler.
    public func explain(_ url: String) -> Explanation { self.frozen.explain(url) }

    /// Returns the patterns that are most similar to a URL that matches no pattern.
    ///
    /// The most similar pattern is first.
    package func nearest(to url: String) -> [String] {
        guard let address = try? Address(url, self.trie.rules) else { return [] }
        return Suggestions(self.trie, address).nearest
    }

    /// Returns the error for an address that matches no pattern.
    ///
    /// The message of the error contains the most similar routes.
    public func noRoute(for address: Address) -> RoutingError {
        self.trie.noRoute(address, Suggestions(self.trie, address))
    }

    /// Returns the error for a URL that matches no pattern, or that is invalid.
    public func noRoute(for url: String) -> RoutingError {
        do {
            return self.noRoute(for: try Address(url, self.trie.rules))
        } catch {
            return error
        }
    }
}

extension RouteTrie {
    func noRoute(_ address: Address, _ suggestions: Suggestions) -> RoutingError {
        var message = "no pattern matches"
        if let failure = suggestions.failure {
            message = "\(failure.message); otherwise \(failure.pattern) would match"
        } else if !suggestions.nearest.isEmpty {
            message += "; did you mean \(suggestions.nearest.joined(separator: " or "))?"
        }
        return RoutingError(.noRoute, url: address.text, message: message)
    }
}

extension FrozenTrie {
    func explain(_ url: String) -> Explanation {
        var scan = HeapScan()
        do {
            let address = try scan.address(url, self.trie.rules)
            let match = try self.match(url)
            let count = scan.count
            var tracer = MatchTracer(self, address: address, scan: scan)
            tracer.trace(address.scheme)
            if let match {
                return Explanation(
                    url: url,
                    route: self.trie.route(match.route),
                    parameters: match.parameters,
                    error: nil,
                    stoppedAt: nil,
                    failure: nil,
                    nearest: [],
                    trace: tracer.lines
                )
            }
            let suggestions = Suggestions(self.trie, address)
            return Explanation(
                url: url,
                route: nil,
                parameters: Parameters(address: address),
                error: self.trie.noRoute(address, suggestions),
                stoppedAt: tracer.depth < count ? tracer.depth : nil,
                failure: suggestions.failure,
                nearest: suggestions.nearest,
                trace: tracer.lines
            )
        } catch {
            return Explanation(
                url: url,
                route: nil,
                parameters: nil,
                error: error,
                stoppedAt: nil,
                failure: nil,
                nearest: [],
                trace: [error.message]
            )
        }
    }
}

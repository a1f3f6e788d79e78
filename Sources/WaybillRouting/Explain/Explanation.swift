/// Why a URL leads where it does, or nowhere.
public struct Explanation: Sendable {
    /// A parameter whose value is not of its type.
    public struct Failure: Sendable, Hashable {
        /// The name of the parameter.
        public let name: String
        /// The type as patterns spell it.
        public let type: String
        /// The text that is not of the type.
        public let text: String
        /// The pattern that would have matched otherwise.
        public let pattern: String
        /// One sentence that says it: `uid` is not an int: abc.
        public let message: String
    }

    /// The URL that was asked about.
    public let url: String
    /// The route that matches, if one does.
    public let route: Route?
    /// What the URL says to the route, or what can be said without one.
    public let parameters: Parameters?
    /// The error of a URL that leads nowhere.
    public let error: RoutingError?
    /// The first segment that no pattern goes on with, counted from 0; nil when all segments are known.
    public let stoppedAt: Int?
    /// The parameter that had the wrong type, if that is all that was wrong.
    public let failure: Failure?
    /// The patterns nearest to the URL, nearest first.
    public let nearest: [String]
    /// What was tried, in order, one readable line each.
    public let trace: [String]
}

extension RouteTable {
    /// Why a URL leads where it does, or nowhere; nothing is run.
    public func explain(_ url: String) -> Explanation { self.frozen.explain(url) }

    /// The error of an address that no pattern matches; it names the nearest routes.
    public func noRoute(for address: Address) -> RoutingError {
        self.trie.noRoute(address, Suggestions(self.trie, address))
    }

    /// The error of a URL that no pattern matches, or of one that is no URL at all.
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
            message = "\(failure.message), which \(failure.pattern) needs"
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
            var tracer = MatchTracer(self, address, scan)
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

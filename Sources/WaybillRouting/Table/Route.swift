/// A registered route of a table.
public struct Route: Sendable {
    /// The identifier of the registration.
    public let id: RouteID
    /// The pattern of the route.
    public let pattern: RoutePattern
    /// The file of the registration, in the form of `#fileID`.
    public let fileID: String
    /// The line of the registration.
    public let line: Int
    /// The parameters of the pattern, with their types.
    public var parameters: [RoutePattern.Parameter] { self.pattern.parameters }
}

/// The identifier of a registration in a table.
///
/// A table never reuses an identifier. After a route was removed, a lookup with its identifier returns nil.
public struct RouteID: Sendable, Hashable {
    @usableFromInline let bits: UInt64

    @inlinable
    init(bits: UInt64) { self.bits = bits }

    init(index: UInt32, generation: UInt32) { self.bits = UInt64(generation) << 32 | UInt64(index) }

    /// The index of the route in the table.
    @inlinable var index: Int { Int(truncatingIfNeeded: self.bits & 0xffff_ffff) }

    /// The number of the registration, which the table counts from 1.
    var generation: UInt32 { UInt32(truncatingIfNeeded: self.bits >> 32) }
}

extension RouteTable {
    /// The routes of the table, in the order of their registration.
    public var routes: [Route] { self.trie.allRoutes }

    /// The routes of the table with their handlers, in the order of their registration.
    package var entries: [(route: Route, handler: Handler)] {
        self.routes.compactMap { route in self.handler(for: route.id).map { (route, $0) } }
    }

    /// Parses a pattern with the table's conventions, as an insertion does.
    package func pattern(
        _ text: String,
        from source: PatternSource = .code
    ) throws(RoutingError) -> RoutePattern {
        try RoutePattern(text, self.trie.rules, from: source)
    }

    /// Returns the route with this identifier, or nil if it was removed.
    public func route(_ id: RouteID) -> Route? { self.trie.route(id) }
}

extension RouteTrie {
    var allRoutes: [Route] {
        self.routes.enumerated()
            .compactMap { index, record in
                self.route(RouteID(index: UInt32(index), generation: record.generation))
            }
            .sorted { $0.id.generation < $1.id.generation }
    }

    func route(at index: UInt32) -> Route? {
        self.route(RouteID(index: index, generation: self.routes[Int(index)].generation))
    }

    func route(_ id: RouteID) -> Route? {
        guard let index = self.index(of: id), let pattern = self.pattern(at: index) else { return nil }
        let record = self.routes[Int(index)]
        let file = self.files.names[Int(record.file)]
        return Route(id: id, pattern: pattern, fileID: file, line: Int(record.line))
    }
}

extension RouteTable {
    /// Returns the routes that no URL seems to reach because another route matches better.
    ///
    /// Each element contains the unreachable route, the better route, and a URL for which the other route is
    /// better. The result is based on random examples, so it may contain a route that a rare URL reaches.
    package func shadowed() -> [(route: Route, by: Route, url: String)] {
        // A fixed seed makes the result reproducible.
        var generator = SeededGenerator(seed: 1)
        return self.routes.compactMap { route in
            var rival: (by: Route, url: String)?
            for _ in 0..<16 {
                let url = route.pattern.example(using: &generator)
                guard let match = try? self.match(url) else { continue }
                if match.route == route.id { return nil }
                rival = self.route(match.route).map { ($0, url) } ?? rival
            }
            return rival.map { (route, $0.by, $0.url) }
        }
    }
}

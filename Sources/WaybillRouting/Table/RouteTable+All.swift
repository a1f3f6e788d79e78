extension RouteTable {
    /// Whether the table can tell every route that matches: it cannot where one pattern changes what another matches.
    package var canMatchAll: Bool {
        let rules = self.core.rules
        return rules.backtracks && !rules.fallsBack && !rules.valuesNeedExactCase
    }

    /// Every route for a URL, each once, in no order; the scheme need not be registered.
    ///
    /// Where ``canMatchAll`` is false, it is the best one.
    ///
    /// - Throws: ``RoutingError/Code/invalidURL`` when the text is not a URL.
    package func matchAll(_ url: String) throws(RoutingError) -> [RouteMatch] {
        guard !self.isEmpty else { return [] }
        if self.canMatchAll { return try self.box.matchAll(url) }
        do {
            return try self.match(url).map { [$0] } ?? []
        } catch {
            if error.code == .refused { return [] }
            throw error
        }
    }

    /// Adds a pattern unless one of the same shape is there, or one that it cannot be told beside.
    ///
    /// - Returns: what the registration is known by, or nil if another table has to take the pattern.
    /// - Throws: ``RoutingError/Code/invalidPattern`` when the table is full.
    package mutating func insertBeside(
        _ pattern: RoutePattern,
        _ handler: Handler
    ) throws(RoutingError) -> RouteID? {
        if !self.isEmpty, !self.canMatchAll || self.core.rival(of: pattern) != nil { return nil }
        let id = try self.update { (core) throws(RoutingError) in
            try core.insert(pattern, fileID: #fileID, line: #line)
        }
        if id.index < self.handlers.count {
            self.handlers[id.index] = handler
        } else {
            self.handlers.append(handler)
        }
        return id
    }
}

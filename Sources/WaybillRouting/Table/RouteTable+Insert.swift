extension RouteTable {
    /// Adds a pattern and its handler.
    ///
    /// - Parameters:
    ///   - pattern: what the handler is for.
    ///   - handler: what a match leads to.
    ///   - fileID: where the registration is written; conflicts name it.
    ///   - line: where the registration is written; conflicts name it.
    /// - Returns: what the registration is known by.
    /// - Throws: ``RoutingError/Code/invalidPattern``, or ``RoutingError/Code/conflict`` when a pattern of the same
    ///   shape is there and the conventions do not let it be replaced.
    @discardableResult
    public mutating func insert(
        _ pattern: String,
        _ handler: Handler,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> RouteID {
        let read = try RoutePattern(pattern, self.core.rules)
        let id = try self.update { (core) throws(RoutingError) in
            try core.insert(read, fileID: fileID, line: line)
        }
        if id.index < self.handlers.count {
            self.handlers[id.index] = handler
        } else {
            self.handlers.append(handler)
        }
        return id
    }

    /// Lets URLs of a scheme in, where the conventions ask for schemes to be registered.
    ///
    /// A pattern that is inserted registers its scheme, and so does the default scheme of the table.
    public mutating func register(scheme: String) {
        let scheme = self.conventions.folded(scheme: scheme)
        self.mutate { $0.schemes.insert(scheme) }
    }

    /// The schemes of the table's patterns, and those that were registered.
    public var schemes: Set<String> { self.core.schemes }

    /// The schemes that have routes now.
    package var schemesWithRoutes: Set<String> {
        self.core.schemes.filter { self.core.existingRoot(of: $0) != nil }
    }
}

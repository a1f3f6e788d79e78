extension RouteTable {
    /// Adds a pattern and its handler.
    ///
    /// - Parameters:
    ///   - pattern: what the handler is for.
    ///   - handler: what a match leads to.
    ///   - fileID: where the registration is written; conflicts name it.
    ///   - line: where the registration is written; conflicts name it.
    /// - Throws: ``RoutingError/Code/invalidPattern``, or ``RoutingError/Code/conflict`` when a pattern of the same
    ///   shape is there and the conventions do not let it be replaced.
    @discardableResult
    public mutating func insert(
        _ pattern: String,
        _ handler: Handler,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> RouteID {
        try self.insert(RoutePattern(pattern, self.core.rules), handler, fileID: fileID, line: line)
    }

    /// Adds a pattern that has been read before, under the same conventions, and its handler.
    @discardableResult
    public mutating func insert(
        _ pattern: RoutePattern,
        _ handler: Handler,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> RouteID {
        let id = try self.core.insert(pattern, fileID: fileID, line: line)
        if Int(id.index) < self.handlers.count {
            self.handlers[Int(id.index)] = handler
        } else {
            self.handlers.append(handler)
        }
        return id
    }
}

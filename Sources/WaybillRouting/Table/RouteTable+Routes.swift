extension RouteTable {
    /// The routes of the table, in the order of their registration.
    public var routes: [Route] { self.core.allRoutes }

    /// Reads a pattern as the table does when it is inserted.
    package func pattern(_ text: String) throws(RoutingError) -> RoutePattern {
        try RoutePattern(text, self.core.rules)
    }

    /// The route that an identifier stands for, or nil when it is not there any more.
    public func route(_ id: RouteID) -> Route? { self.core.route(id) }
}

extension TableCore {
    var allRoutes: [Route] {
        self.routes.enumerated()
            .compactMap { index, record in
                self.route(RouteID(index: UInt32(index), generation: record.generation))
            }
            .sorted { $0.id.generation < $1.id.generation }
    }

    func route(_ id: RouteID) -> Route? {
        guard let index = self.index(of: id), let pattern = self.pattern(at: index) else { return nil }
        let record = self.routes[Int(index)]
        let file = self.files.names[Int(record.file)]
        return Route(id: id, pattern: pattern, fileID: file, line: Int(record.line))
    }
}

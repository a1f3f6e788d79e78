extension RouteTable {
    /// The routes of the table, in the order of their registration.
    public var routes: [Route] {
        self.core.routes.enumerated()
            .compactMap { index, record in
                record.pattern.map { pattern in
                    let id = RouteID(index: UInt32(index), generation: record.generation)
                    return Route(id: id, pattern: pattern, fileID: record.fileID, line: Int(record.line))
                }
            }
            .sorted { $0.id.generation < $1.id.generation }
    }
}

internal import WaybillRouting

/// The patterns that are exposed, each with its operations; a value, as a route table is.
///
/// It reads a URL with the same scanner and the same conventions as the routes do, so there is no spelling
/// that means one thing here and another there. Only what makes the match of one pattern depend on other
/// patterns is left out: a URL that a route takes as a fallback, for one, is exposed if it matches itself.
struct ExposureTable: Sendable {
    /// An exposure that can be taken back.
    struct ID: Sendable {
        fileprivate let table: Int
        fileprivate let route: RouteID
    }

    // Of patterns of one shape, a table holds only one.
    private var tables: [RouteTable<ExposedOperations>] = []
    private var empty: RouteTable<ExposedOperations>

    init(_ configuration: MessageBus.Configuration) {
        var configuration = configuration
        configuration.conventions.bestMatch = .mostSpecific
        configuration.conventions.fallsBack = false
        configuration.conventions.valuesNeedExactCase = false
        configuration.conventions.schemeMustBeRegistered = false
        self.empty = configuration.table()
    }

    /// The patterns, with their operations.
    var patterns: [(pattern: RoutePattern, operations: ExposedOperations)] {
        self.tables.flatMap { table in
            table.routes.compactMap { route in
                table.handler(for: route.id).map { (route.pattern, $0) }
            }
        }
    }

    mutating func insert(_ pattern: String, _ operations: ExposedOperations) throws(RoutingError) -> ID {
        let pattern = try self.empty.pattern(pattern)
        for index in self.tables.indices {
            if let route = try self.tables[index].insertBeside(pattern, operations) {
                return ID(table: index, route: route)
            }
        }
        var table = self.empty
        guard let route = try table.insertBeside(pattern, operations) else {
            preconditionFailure("an empty table takes every pattern")
        }
        self.tables.append(table)
        return ID(table: self.tables.count - 1, route: route)
    }

    /// Reads URLs and further patterns by another default scheme.
    mutating func setDefaultScheme(_ scheme: String) {
        self.empty.defaultScheme = scheme
        for index in self.tables.indices { self.tables[index].defaultScheme = scheme }
    }

    mutating func remove(_ id: ID) { self.tables[id.table].remove(id.route) }

    /// What a peer may do with a URL: all that the patterns that match it say.
    ///
    /// - Throws: `invalidURL`.
    func operations(at url: String) throws(RoutingError) -> ExposedOperations {
        var operations: ExposedOperations = []
        for table in self.tables {
            for match in try table.matchAll(url) {
                if let more = table[match] { operations.formUnion(more) }
            }
        }
        guard !operations.isEmpty, Self.mayLeaveItsPath(url) else { return operations }
        return Self.leavesItsPath(try self.empty.address(of: url)) ? [] : operations
    }

    /// Whether it is worth a look: most URLs have no byte that the others have to have.
    private static func mayLeaveItsPath(_ url: String) -> Bool {
        let bytes = url.utf8.span
        for index in bytes.indices
        where bytes[index] == UInt8(ascii: ".") || bytes[index] == UInt8(ascii: "%") {
            return true
        }
        return false
    }

    /// Whether `.` or `..` is a segment, or a part of one, in any encoding.
    ///
    /// The routes take these as they are, but what is behind a route, a folder or another server, may not.
    private static func leavesItsPath(_ address: Address) -> Bool {
        address.segments.contains { segment in
            segment.split { $0 == "/" || $0 == "\\" }.contains { $0 == "." || $0 == ".." }
        }
    }
}

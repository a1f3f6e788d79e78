internal import WaybillRouting

/// The exposed patterns with their operations.
///
/// The table reads each spelling of a URL like the routes. The table switches off the conventions that make
/// the match of one pattern depend on other patterns: a URL is exposed only if the URL itself matches an
/// exposed pattern.
struct ExposureTable: Sendable {
    /// The identifier by which an exposure can be removed.
    typealias ID = (table: Int, route: RouteID)

    // A single table cannot hold two patterns that differ only in the names of their values.
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

    var patterns: [(pattern: RoutePattern, operations: ExposedOperations)] {
        self.tables.flatMap { $0.entries.map { ($0.route.pattern, $0.handler) } }
    }

    mutating func insert(_ pattern: String, _ operations: ExposedOperations) throws(RoutingError) -> ID {
        let pattern = try self.empty.pattern(pattern)
        for table in 0...self.tables.count {
            if table == self.tables.count { self.tables.append(self.empty) }
            if let route = try self.tables[table].insertBeside(pattern, operations) { return (table, route) }
        }
        preconditionFailure("internal error: an empty table rejected a pattern")
    }

    /// Sets the default scheme of URLs and of patterns that are inserted later.
    mutating func setDefaultScheme(_ scheme: String) {
        self.empty.defaultScheme = scheme
        for index in self.tables.indices { self.tables[index].defaultScheme = scheme }
    }

    mutating func hide(_ id: ID) { self.tables[id.table].remove(id.route) }

    /// Returns the union of the operations of all patterns that match a URL.
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

    /// Returns whether a URL contains a byte that every segment `.` or `..` needs in any encoding.
    private static func mayLeaveItsPath(_ url: String) -> Bool {
        let bytes = url.utf8.span
        for index in bytes.indices
        where bytes[index] == UInt8(ascii: ".") || bytes[index] == UInt8(ascii: "%") {
            return true
        }
        return false
    }

    /// Returns whether a segment, or a part of a segment, is `.` or `..` in any encoding.
    ///
    /// Routes treat these segments like any other segment. The resource behind a route, for example a folder
    /// or another server, may interpret these segments as a change of folder.
    private static func leavesItsPath(_ address: Address) -> Bool {
        // The parts are bytes, because a combining mark after a slash forms one character with the slash.
        address.segments.contains { segment in
            segment.utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
                .contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
        }
    }
}

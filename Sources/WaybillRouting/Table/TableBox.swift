/// The core of a table as one reference that never changes.
///
/// Reading a constant of a class needs neither a copy nor a check. To change the core, a table takes it out of its
/// box, lets the box go, and puts it into a new one: what nobody else holds is changed where it lies.
@usableFromInline
final class TableBox: Sendable {
    let core: TableCore

    init(_ core: TableCore) { self.core = core }

    /// What a table holds while its core is being changed.
    static let empty = TableBox(TableCore(rules: .waybill))

    /// The place of a route, unless it is gone.
    @usableFromInline
    func index(of id: RouteID) -> Int? { self.core.index(of: id).map(Int.init) }
}

extension RouteTable {
    var core: TableCore { self.box.core }

    /// Changes the core, in place when no copy of the table is about.
    mutating func update<Result>(
        _ body: (inout TableCore) throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        var core = self.box.core
        self.box = .empty
        defer { self.box = TableBox(core) }
        return try body(&core)
    }

    /// Changes the core in a way that cannot fail.
    mutating func mutate(_ body: (inout TableCore) -> Void) {
        var core = self.box.core
        self.box = .empty
        body(&core)
        self.box = TableBox(core)
    }
}

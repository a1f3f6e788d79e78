/// The patterns that can be routed, each with its handler.
///
/// A table is a value. While only one place holds it, an insertion changes it where it is; where somebody else still
/// reads a copy, the copy stays as it was. Matching runs no handler and needs no lock.
public struct RouteTable<Handler: Sendable>: Sendable {
    @usableFromInline var box: TableBox
    @usableFromInline var handlers: [Handler?] = []

    /// Makes an empty table.
    ///
    /// - Parameters:
    ///   - conventions: how addresses and patterns are read and matched.
    ///   - defaultScheme: the scheme of what names none.
    ///   - limits: how large what is routed may be.
    public init(
        conventions: RoutingConventions = .waybill,
        defaultScheme: String = "app",
        limits: RoutingLimits = .default
    ) {
        self.box = TableBox(
            TableCore(rules: .shared(conventions: conventions, defaultScheme: defaultScheme, limits: limits))
        )
    }

    /// How addresses and patterns are read and matched.
    public var conventions: RoutingConventions { self.core.rules.conventions }

    /// How large what is routed may be.
    public var limits: RoutingLimits { self.core.rules.limits }

    /// The scheme of what names none.
    public var defaultScheme: String { self.core.rules.defaultScheme }

    /// How many routes there are.
    public var count: Int { self.core.count }

    /// Whether there is no route.
    public var isEmpty: Bool { self.core.count == 0 }
}

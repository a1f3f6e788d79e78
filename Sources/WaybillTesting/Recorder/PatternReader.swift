internal import Waybill
internal import WaybillRouting

/// Reads patterns as a bus does, which it does not keep.
struct PatternReader: Sendable {
    private let configuration: MessageBus.Configuration

    init(_ bus: MessageBus) { self.configuration = bus.configuration }

    /// A table with one pattern.
    func scope(of pattern: String) throws(RoutingError) -> RouteTable<Void> {
        var table = RouteTable<Void>(
            conventions: self.configuration.conventions,
            defaultScheme: self.configuration.defaultScheme,
            limits: self.configuration.limits
        )
        try table.insert(pattern, ())
        return table
    }
}

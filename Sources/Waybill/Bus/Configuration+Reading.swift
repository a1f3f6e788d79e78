package import WaybillRouting

// How a bus reads text: everybody who reads URLs or patterns for it does so in the same way.
extension MessageBus.Configuration {
    /// An empty table.
    package func table<Handler: Sendable>(of handler: Handler.Type = Handler.self) -> RouteTable<Handler> {
        RouteTable(conventions: self.conventions, defaultScheme: self.defaultScheme, limits: self.limits)
    }

    /// A table with one pattern, to ask which URLs match it.
    package func scope(of pattern: String) throws(RoutingError) -> RouteTable<Void> {
        var table = self.table(of: Void.self)
        try table.insert(pattern, ())
        return table
    }

    /// Reads a pattern.
    package func pattern(_ text: String) throws(RoutingError) -> RoutePattern {
        try RoutePattern(
            text,
            conventions: self.conventions,
            defaultScheme: self.defaultScheme,
            limits: self.limits
        )
    }

    /// Reads a URL.
    package func address(_ url: String) throws(RoutingError) -> Address {
        try Address(
            url,
            conventions: self.conventions,
            defaultScheme: self.defaultScheme,
            limits: self.limits
        )
    }
}

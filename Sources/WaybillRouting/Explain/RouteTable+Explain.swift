extension RouteTable {
    /// The error of an address that no pattern matches; it names the nearest routes.
    public func noRoute(for address: Address) -> RoutingError {
        let nearest = Suggestions(core: self.core, address: address).nearest()
        let hint = nearest.isEmpty ? "" : "; did you mean \(nearest.joined(separator: " or "))?"
        return RoutingError(.noRoute, url: address.text, message: "no pattern matches\(hint)")
    }

    /// The error of a URL that no pattern matches, or of one that is no URL at all.
    public func noRoute(for url: String) -> RoutingError {
        do {
            return self.noRoute(for: try Address(url, self.core.rules))
        } catch {
            return error
        }
    }
}

internal import WaybillRouting

extension RoutingError {
    /// Nobody provides a service.
    static func noService(
        _ key: some CustomStringConvertible,
        provided: [ServiceKey],
        chain: [ServiceKey] = []
    ) -> Self {
        let others = provided.map { "`\($0)`" }.sorted().joined(separator: ", ")
        let known = others.isEmpty ? "there is none at all" : "there are \(others)"
        let why = chain.last.map { ", which the adapter of `\($0)` needs" } ?? ""
        return Self(
            .noHandler,
            message: "nobody provides `\(key)`\(why); \(known). Install the module that conforms to it"
        )
    }

    /// A service is made on demand, and not by asking for it.
    static func madeOnDemand(_ key: ServiceKey) -> Self {
        Self(
            .noHandler,
            message: "`\(key)` is made on demand: ask for its performance, and perform that"
        )
    }

    /// The reverse: a service that is just there.
    static func notMadeOnDemand(_ key: ServiceKey) -> Self {
        Self(.noHandler, message: "`\(key)` has no router that makes it: ask for the service itself")
    }

    /// An adapter that needs itself.
    static func cycle(_ chain: [ServiceKey], _ key: ServiceKey) -> Self {
        let from = chain.firstIndex(of: key) ?? 0
        let names = (chain[from...] + [key]).map { "`\($0)`" }.joined(separator: " from ")
        return Self(.infiniteRecursion, message: "adapters lead back to where they began: \(names)")
    }
}

#if HTTP
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// A copy of the routes of a bus, for code that must not call the bus.
final class RouteCatalog: Sendable {
    private struct State {
        /// The modules of the routes, in the order of the bus's routes.
        var modules: [String?] = []
        var modulesByPattern: [String: String] = [:]
        var table: RouteTable<Void>
    }

    private let state: Locked<State>

    init(_ bus: MessageBus) { self.state = Locked(State(table: bus.clusterTable())) }

    /// Updates the copy if the routes have changed, and returns their patterns, or nil if they have not.
    @discardableResult
    func update(_ bus: MessageBus) -> Set<String>? {
        let described = bus.describedRoutes
        let modules = described.map(\.description.module)
        let isCurrent = self.state.withLock { state in
            state.modules == modules && state.table.routes.map(\.pattern) == described.map(\.pattern)
        }
        if isCurrent { return nil }
        var state = State(modules: modules, table: bus.clusterTable())
        for (pattern, description) in described {
            state.modulesByPattern[description.pattern] = description.module
            _ = try? state.table.insert(pattern.text, ())
        }
        self.state.withLock { $0 = state }
        return Set(described.map(\.description.pattern))
    }

    /// Returns the module of the route with a pattern.
    func module(of pattern: String?) -> String? {
        pattern.flatMap { pattern in self.state.withLock { $0.modulesByPattern[pattern] } }
    }

    /// Returns the ranges of the path parameters in a URL.
    ///
    /// If the fragment is a return URL, its ranges are included.
    func pathRanges(of parameters: Parameters) -> [(name: String, range: Range<Int>)] {
        var ranges = parameters.pathRanges
        let url = parameters.url
        guard parameters.hasFragment, let hash = url.utf8.firstIndex(of: UInt8(ascii: "#")) else {
            return ranges
        }
        let fragment = url[url.utf8.index(after: hash)...]
        // A return URL without a scheme has the scheme of the request, and may begin with a slash.
        let path = fragment.drop { $0 == "/" }
        for (prefix, rest) in [("", fragment), ("\(parameters.address.scheme)://", path)] {
            let match = self.state.withLock { state in (try? state.table.match(prefix + rest)) ?? nil }
            let offset = url.utf8.distance(from: url.startIndex, to: rest.startIndex) - prefix.utf8.count
            for (name, range) in match?.parameters.pathRanges ?? []
            where range.lowerBound >= prefix.utf8.count {
                ranges.append((name, (range.lowerBound + offset)..<(range.upperBound + offset)))
            }
        }
        return ranges
    }
}
#endif

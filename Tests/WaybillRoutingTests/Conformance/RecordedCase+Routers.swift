import WaybillCompatibility
import WaybillRouting

/// One reader for each file format.
extension RecordedCase {
    static func routeLanguage(_ json: JSON) -> Self {
        var recorded = Self(json, .waybill, defaultScheme: "app")
        // A conflict is ignored: the first of two patterns of one shape stays, as in the original.
        for pattern in json["routes"]?.strings ?? [] { _ = try? recorded.table.insert(pattern, pattern) }
        return recorded
    }

    static func yfRouter(_ json: JSON) -> Self {
        let config = json["config"]
        var conventions = RoutingConventions.yfRouter
        conventions.fallsBack = config?["fallback"]?.bool ?? false
        var recorded = Self(json, conventions, defaultScheme: config?["defaultScheme"]?.string ?? "")
        for pattern in config?["register"]?.strings ?? [] { _ = try? recorded.table.insert(pattern, pattern) }
        for pattern in config?["unregister"]?.strings ?? [] { recorded.table.remove(pattern) }
        for scheme in config?["unregisterSchemes"]?.strings ?? [] { recorded.table.removeAll(scheme: scheme) }
        recorded.call = json["params"]?.object.mapValues(\.text) ?? [:]
        let expected = json["expect"]
        // The built-in keys are properties of the address here, which a query cannot overwrite.
        recorded.expected.scheme = expected?["params"]?["YFSchemeKey"]?.string
        for key in ["YFSchemeKey", "YFURLKey", "YFPathKey"] {
            let isFromURL = recorded.url.contains("\(key)=")
            if !isFromURL { recorded.expected.parameters[key] = nil }
        }
        recorded.expected.canRoute = expected?["canRoute"]?.bool
        // For an object request the original reports what its handler received, but not the matched pattern.
        if json["op"]?.string == "object" {
            let isFound = expected?["params"]?.object.isEmpty == false
            recorded.expected.matched = isFound ? recorded.answer().matched ?? "a pattern" : nil
        }
        // Where the original depends on the order of a hash table, any answer is accepted.
        if expected?["unspecified"]?.bool == true { recorded.expected = recorded.answer() }
        return recorded
    }

    static func ftRouter(_ json: JSON) -> Self {
        let config = json["config"]
        var conventions = RoutingConventions.ftRouter
        if config?["hostAsPath"]?.bool == false { conventions.host = .isIgnored }
        var recorded = Self(json, conventions, defaultScheme: config?["defaultScheme"]?.string ?? "")
        for entry in config?["register"]?.array ?? [] {
            let entry = entry.strings
            // The router that registers it refuses an empty destination; a table accepts any handler.
            guard entry.count > 1, !entry[1].isEmpty else { continue }
            var pattern = entry[0]
            if entry.count > 2, let colon = pattern.firstIndex(of: ":") {
                pattern = entry[2] + pattern[colon...]
            } else if entry.count > 2 {
                pattern = entry[2] + "://" + pattern
            }
            _ = try? recorded.table.insert(pattern, entry[1])
        }
        for (scheme, tree) in config?["dictionary"]?.object ?? [:] {
            let prefix = scheme == "/" || tree.string != nil ? "" : scheme + "://"
            recorded.insert(tree, at: prefix + (tree.string == nil ? "" : scheme))
        }
        for pattern in config?["unregister"]?.strings ?? [] { recorded.table.remove(pattern) }
        for scheme in config?["unregisterSchemes"]?.strings ?? [] { recorded.table.removeAll(scheme: scheme) }
        recorded.call = json["params"]?.object.mapValues(\.text) ?? [:]
        recorded.expected.isRefused = json["expect"]?["routed"]?.bool.map { !$0 }
        return recorded
    }

    /// A dictionary of dictionaries, whose keys are segments and whose leaves are destinations.
    private mutating func insert(_ tree: JSON, at path: String) {
        if let destination = tree.string { _ = try? self.table.insert(path, destination) }
        for (key, subtree) in tree.object { self.insert(subtree, at: key == "." ? path : "\(path)/\(key)") }
    }

    static func cocRouter(_ json: JSON) -> Self {
        let config = json["config"]
        var recorded = Self(json, .cocRouter, defaultScheme: "")
        let controllers = config?["controllers"]?.object.mapValues { Set($0.strings) } ?? [:]
        let scheme = String(recorded.url.prefix { $0 != ":" && $0 != "%" })
        let selectors = controllers[scheme.prefix(1).uppercased() + scheme.dropFirst() + "Controller"] ?? []
        // A convention makes the URL's own path the pattern, if the controller has the action.
        // A URL that was routed before is found in the cache.
        let warm = config?["warm"]?.array.first { $0["url"]?.string == recorded.url }
        let arguments = warm == nil ? json["args"]?.array.count ?? 0 : 0
        let wanted = warm?["convention"]?.string ?? json["convention"]?.string
        if let action = wanted, selectors.contains(action), arguments <= max(1, action.count { $0 == ":" }) {
            var pattern = String(recorded.url.prefix { $0 != "?" })
            if !pattern.hasSuffix("/") { pattern += "/" }
            _ = try? recorded.table.insert(pattern, pattern)
        }
        for (scheme, table) in config?["tables"]?.object ?? [:] {
            // An action that no controller has is found, but has no handler.
            for (action, patterns) in table.array.flatMap(\.object)
            where controllers.values.contains(where: { $0.contains(action) }) {
                for pattern in patterns.string.map({ [$0] }) ?? patterns.strings {
                    let whole = pattern.hasPrefix("\(scheme)://") ? pattern : "\(scheme)://\(pattern)"
                    _ = try? recorded.table.insert(whole, whole)
                }
            }
        }
        for pattern in config?["navigation"]?.object.keys.sorted() ?? [] {
            let whole = pattern.contains("://") ? pattern : "\(scheme)://\(pattern)"
            _ = try? recorded.table.insert(whole, pattern)
        }
        return recorded
    }

    static func zikRouter(_ json: JSON) -> Self {
        var recorded = Self(json, .zikRouter, defaultScheme: "")
        for pattern in json["config"]?["register"]?.strings ?? [] {
            _ = try? recorded.table.insert(pattern, pattern)
        }
        return recorded
    }
}

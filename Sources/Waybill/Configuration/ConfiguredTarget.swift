internal import WaybillRouting

/// What the URL of a configured target says to the handler that it leads to.
///
/// A message to `app://kettle` that is configured to lead to `app://catalog/product/copper-kettle` keeps its
/// own URL; what the target's URL says is added to its parameters.
enum ConfiguredTarget: Sendable {
    case values(Values)
    /// A URL that a connector takes: connectors read the address, so the message gets this one.
    case connected(String)

    /// The values of a target that a route takes.
    struct Values: Sendable {
        /// What the URL says, by the target's names; an array for a query item that is repeated.
        var fixed: [String: any Sendable] = [:]
        /// Placeholders in the target, `app://catalog/product/:sku`: the target's names, and the names of the
        /// pattern.
        var renamed: [String: String] = [:]

        var isEmpty: Bool { self.fixed.isEmpty && self.renamed.isEmpty }
    }

    /// The values in a target's URL, which has just been matched.
    ///
    /// - Parameters:
    ///   - match: what the target's URL says.
    ///   - names: the names that the configured pattern gives its values.
    /// - Returns: what the target says, by the names of the route that it leads to.
    static func values(in match: Parameters, names: Set<String>) -> Values {
        var values = Values()
        for name in Set(match.path.keys).union(match.address.queryItems.map(\.name)) {
            let texts = match.all(name)
            guard let text = texts.first else { continue }
            if texts.count == 1, let placeholder = Self.placeholder(text), names.contains(placeholder) {
                if placeholder != name { values.renamed[name] = placeholder }
            } else if texts.count == 1 {
                values.fixed[name] = text
            } else {
                values.fixed[name] = texts
            }
        }
        return values
    }

    /// The name in `:name`, `<name>` and `{name}`.
    private static func placeholder(_ text: String) -> String? {
        if text.hasPrefix(":") { return String(text.dropFirst()) }
        guard text.hasPrefix("<") && text.hasSuffix(">") || text.hasPrefix("{") && text.hasSuffix("}") else {
            return nil
        }
        return String(text.dropFirst().dropLast())
    }

    /// The URL that a connector takes, if it is one.
    var connectedURL: String? {
        if case .connected(let url) = self { return url }
        return nil
    }

    /// What the handler reads: the parameters of a message's URL, and what the target says, which wins.
    func applied(to parameters: Parameters, _ core: BusCore) -> Parameters {
        switch self {
        case .values(let values):
            var parameters = parameters
            let renamed = values.renamed.compactMapValues { parameters[$0] as (any Sendable)? }
            parameters.pass(renamed.merging(values.fixed) { _, fixed in fixed })
            return parameters
        case .connected(let url):
            // The return URL is the message's, and no part of where it goes: it has the message's scheme.
            let fragment = parameters.address.fragment.map {
                "#\(Self.isPath($0, core) ? core.complete($0, scheme: parameters.address.scheme) : $0)"
            }
            guard let address = try? core.address(of: url + (fragment ?? "")) else { return parameters }
            return Parameters(address: address)
        }
    }

    /// Whether a fragment has the form of a URL without a scheme; routes may be locked here, and are not
    /// asked.
    private static func isPath(_ fragment: String, _ core: BusCore) -> Bool {
        let address = try? Address(fragment, conventions: core.configuration.conventions)
        return address.map { !$0.hasScheme && $0.segments.count > 1 } ?? false
    }

    /// The same behind another target, whose own values win.
    func before(_ other: ConfiguredTarget?) -> ConfiguredTarget {
        guard let other else { return self }
        guard case .values(let values) = self, case .values(var merged) = other else { return other }
        for (name, source) in merged.renamed {
            if let value = values.fixed[source] {
                merged.renamed[name] = nil
                merged.fixed[name] = value
            } else if let origin = values.renamed[source] {
                merged.renamed[name] = origin
            }
        }
        merged.fixed.merge(values.fixed) { own, _ in own }
        merged.renamed.merge(values.renamed) { own, _ in own }
        return .values(merged)
    }
}

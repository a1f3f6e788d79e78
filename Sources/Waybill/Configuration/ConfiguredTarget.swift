internal import WaybillRouting

/// The part of a configured target's URL that applies to messages.
///
/// For example, `app://kettle` may be configured to lead to `app://catalog/product/copper-kettle`. A message
/// to `app://kettle` keeps its own URL, and the values in the target's URL are added to its parameters.
enum ConfiguredTarget: Sendable {
    case values(Values)
    /// A URL that a connector handles, and with which the message is therefore delivered.
    case connected(String)

    /// The values of a target whose URL a route handles.
    struct Values: Sendable {
        /// The values by the names in the target's pattern; arrays for repeated query items.
        var fixed: [String: any Sendable] = [:]
        /// The names in the configured pattern, by the names in the target's pattern, for each placeholder in
        /// the target's URL, for example in `app://catalog/product/:sku`.
        var renamed: [String: String] = [:]

        var isEmpty: Bool { self.fixed.isEmpty && self.renamed.isEmpty }
    }

    /// Returns the values in a target's URL, where `names` are the names in the configured pattern.
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

    /// Returns the name in `:name`, `<name>` or `{name}`, or nil when the text is not a placeholder.
    private static func placeholder(_ text: String) -> String? {
        if text.hasPrefix(":") { return String(text.dropFirst()) }
        guard text.hasPrefix("<") && text.hasSuffix(">") || text.hasPrefix("{") && text.hasSuffix("}") else {
            return nil
        }
        return String(text.dropFirst().dropLast())
    }

    /// The URL that a connector handles; nil when the target has values.
    var connectedURL: String? {
        if case .connected(let url) = self { return url }
        return nil
    }

    /// Returns the parameters of a message, with the values of the target, which take precedence.
    ///
    /// The method does not read routes, because the caller may hold the lock of the routes.
    func applied(to parameters: Parameters, _ core: BusCore) -> Parameters {
        switch self {
        case .values(let values):
            var parameters = parameters
            let renamed = values.renamed.compactMapValues { parameters[$0] as (any Sendable)? }
            parameters.pass(renamed.merging(values.fixed) { _, fixed in fixed })
            return parameters
        case .connected(let url):
            // The return URL belongs to the message and not to the target, so a return URL without a scheme
            // gets the message's scheme.
            let fragment = parameters.address.fragment.map {
                "#\(Self.isPath($0, core) ? core.complete($0, scheme: parameters.address.scheme) : $0)"
            }
            // Without the fragment, the URL cannot be too long.
            let read = parameters.address.rereading
            guard let address = (try? read(url + (fragment ?? ""))) ?? (try? read(url)) else {
                return parameters
            }
            return Parameters(address: address)
        }
    }

    /// Returns whether a fragment has the form of a URL without a scheme.
    private static func isPath(_ fragment: String, _ core: BusCore) -> Bool {
        core.returnAddress(fragment).map { !$0.hasScheme && $0.segments.count > 1 } ?? false
    }

    /// Returns this target combined with the target that it leads to, whose values take precedence.
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

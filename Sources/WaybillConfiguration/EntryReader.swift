#if Configuration

internal import WaybillRouting

/// Converts the contents of a file to the entries of a configuration.
struct EntryReader {
    let file: String

    /// The scheme in the file's name.
    let scheme: String

    private static let sections: Set<String> = ["scheme", "actions", "destinations"]

    /// Returns whether a map has sections.
    ///
    /// A map without sections maps paths to destinations directly. A path may have the name of a section. The
    /// values show which of the two a key is: the value of a path is a text, and the value of a section is
    /// not.
    private static func hasSections(_ pairs: [(key: String, value: ConfigurationNode)]) -> Bool {
        pairs.contains { key, node in
            guard key != "scheme", Self.sections.contains(key) else { return false }
            if case .text = node.value { return false }
            return true
        }
    }

    /// Returns whether a map has the form `{ "an order": { "detail": "detail/<id>" } }`, in which each key is
    /// a description, and each value is a map of the described actions.
    private static func isDescribed(_ pairs: [(key: String, value: ConfigurationNode)]) -> Bool {
        !pairs.isEmpty
            && pairs.allSatisfy { _, node in
                if case .map = node.value { true } else { false }
            }
    }

    func entries(_ root: ConfigurationNode) throws(ConfigurationError) -> [RouteConfiguration.Entry] {
        switch root.value {
        case .list: return try self.actions(root, self.scheme)
        case .map(let pairs) where Self.hasSections(pairs):
            return try self.sections(pairs)
        case .map(let pairs) where Self.isDescribed(pairs):
            var entries: [RouteConfiguration.Entry] = []
            for (description, actions) in pairs {
                try self.checkActions(actions, below: description)
                entries += try self.actions(actions, self.scheme)
            }
            return entries
        case .map(let pairs): return try self.destinations(pairs, nil)
        case .text, .other:
            throw self.error(
                root,
                key: "",
                message: "the file must contain a map of sections or destinations, or a list of actions"
            )
        }
    }

    /// Throws an error if a description seems to be a section of destinations, whose keys are paths.
    private func checkActions(
        _ node: ConfigurationNode,
        below description: String
    ) throws(ConfigurationError) {
        guard case .map(let pairs) = node.value else { return }
        let isMisspelled = description.lowercased().hasPrefix("destination")
        for (key, value) in pairs where isMisspelled || key.contains("/") {
            let message =
                "`\(description)` is not a section; if it maps paths to destinations, rename it to destinations, "
                + "and otherwise give each action a name without a slash"
            throw self.error(value, key: key, message: message)
        }
    }

    private func sections(
        _ pairs: [(key: String, value: ConfigurationNode)]
    ) throws(ConfigurationError) -> [RouteConfiguration.Entry] {
        for (key, value) in pairs where !Self.sections.contains(key) {
            throw self.error(
                value,
                key: key,
                message: "this section is unknown; the sections are scheme, actions and destinations"
            )
        }
        var named: String?
        for (key, value) in pairs where key == "scheme" {
            guard case .text(let scheme) = value.value else {
                throw self.error(value, key: key, message: "the scheme must be text")
            }
            named = scheme
        }
        var entries: [RouteConfiguration.Entry] = []
        for (key, value) in pairs where key != "scheme" {
            if key == "actions" {
                entries += try self.actions(value, named ?? self.scheme)
            } else {
                guard case .map(let pairs) = value.value else {
                    throw self.error(
                        value,
                        key: key,
                        message: "destinations must be a map from paths to names"
                    )
                }
                entries += try self.destinations(pairs, named)
            }
        }
        return entries
    }

    /// Returns the entries of the section `actions`.
    ///
    /// The section is a map from actions to patterns, or a list of such maps. The order of a list is kept.
    private func actions(
        _ node: ConfigurationNode,
        _ scheme: String
    ) throws(ConfigurationError) -> [RouteConfiguration.Entry] {
        var entries: [RouteConfiguration.Entry] = []
        switch node.value {
        case .list(let maps):
            for map in maps {
                guard case .map = map.value else {
                    throw self.error(
                        map,
                        key: "",
                        message:
                            "each entry of the list must be a map from the name of an action to its patterns"
                    )
                }
                entries += try self.actions(map, scheme)
            }
        case .map(let pairs):
            for (action, patterns) in pairs {
                for pattern in try self.patterns(patterns, of: action) {
                    entries.append(
                        RouteConfiguration.Entry(
                            pattern: try self.qualified(pattern.text, scheme, node, key: action),
                            target: action,
                            source: .init(file: self.file, line: pattern.line, key: action)
                        )
                    )
                }
            }
        case .text, .other:
            throw self.error(
                node,
                key: "actions",
                message: "actions must be a map from names to patterns, or a list of such maps"
            )
        }
        return entries
    }

    private func patterns(
        _ node: ConfigurationNode,
        of action: String
    ) throws(ConfigurationError) -> [(text: String, line: Int?)] {
        switch node.value {
        case .text(let text): return [(text, node.line)]
        case .list(let items):
            var patterns: [(text: String, line: Int?)] = []
            for item in items {
                guard case .text(let text) = item.value else {
                    throw self.error(item, key: action, message: "a pattern must be text")
                }
                patterns.append((text, item.line ?? node.line))
            }
            return patterns
        case .map, .other:
            throw self.error(
                node,
                key: action,
                message: "an action must have a pattern, or a list of patterns"
            )
        }
    }

    private func destinations(
        _ pairs: [(key: String, value: ConfigurationNode)],
        _ scheme: String?
    ) throws(ConfigurationError) -> [RouteConfiguration.Entry] {
        var entries: [RouteConfiguration.Entry] = []
        for (path, node) in pairs {
            guard case .text(let name) = node.value, !name.isEmpty else {
                throw self.error(node, key: path, message: "a destination must have a name")
            }
            entries.append(
                RouteConfiguration.Entry(
                    pattern: try self.qualified(path, scheme, node, key: path),
                    target: name,
                    source: .init(file: self.file, line: node.line, key: path)
                )
            )
        }
        return entries
    }

    /// Returns a pattern with a scheme, which is added if the pattern has none; a nil scheme is not added.
    private func qualified(
        _ pattern: String,
        _ scheme: String?,
        _ node: ConfigurationNode,
        key: String
    ) throws(ConfigurationError) -> String {
        let parts = pattern.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let hasScheme = parts.count == 2 && parts[1].hasPrefix("/") && Address.isScheme(String(parts[0]))
        guard let scheme, !hasScheme else { return pattern }
        guard Address.isScheme(scheme) else {
            let message = "`\(scheme)` is not a scheme: add a section `scheme`, or rename the file"
            throw self.error(node, key: key, message: message)
        }
        return "\(scheme)://\(pattern.hasPrefix("/") ? String(pattern.dropFirst()) : pattern)"
    }

    private func error(_ node: ConfigurationNode, key: String, message: String) -> ConfigurationError {
        ConfigurationError(.init(file: self.file, line: node.line, key: key), message)
    }
}

#endif

internal import WaybillRouting

// What is exposed are URLs: `app://user/1` alone, where the route is `app://user/:id`. Among callers of one
// process a value that is passed with the call wins over the path; a peer could name another user that way.
extension BusCore {
    /// A peer's request in which nothing wins over what the path of its URL says, and the target of a
    /// configured route.
    func keepingPath(_ request: Request) -> Request {
        guard self.mayOverridePath(request) else { return request }
        let found = try? self.registry.read { table throws(RoutingError) in
            try table.match(request.url).map { match in
                PathValues(match.parameters, table[match]?.group?.configured)
            }
        }
        guard let values = found ?? nil else { return request }
        return request.keeping(values, isPathFirst: self.isPathFirst)
    }

    /// The same for a message to subscribers, with what its URL says to the pattern of each.
    func keepingPath(_ request: Request, to matched: [Parameters]) -> Request {
        guard self.mayOverridePath(request) else { return request }
        // Most patterns name nothing that is passed, and then no dictionary is made of what they name.
        if self.isPathFirst, let passed = request.passed,
            !matched.contains(where: { $0.pathHasName(in: passed) })
        {
            return request
        }
        return matched.reduce(request) { request, parameters in
            request.keeping(PathValues(parameters), isPathFirst: self.isPathFirst)
        }
    }

    private var isPathFirst: Bool {
        self.configuration.conventions.precedence == .pathBeforeQuery
    }

    private func mayOverridePath(_ request: Request) -> Bool {
        request.passed != nil || !self.isPathFirst
    }
}

/// What the path of a URL says to a handler, and the names that the target of a configured route gives
/// values.
private struct PathValues: Sendable {
    let path: [String: String]
    private var names: Set<String> = []

    init(_ parameters: Parameters, _ target: ConfiguredTarget? = nil) {
        self.path = parameters.path
        guard case .values(let values) = target else { return }
        self.names.formUnion(values.fixed.keys)
        self.names.formUnion(values.renamed.keys)
    }

    func says(_ name: String) -> Bool { self.path[name] != nil || self.names.contains(name) }

    /// Whether anything that is passed would win over the path.
    func isHidden(by passed: PassedValues) -> Bool {
        self.path.keys.contains { passed[$0] != nil } || self.names.contains { passed[$0] != nil }
    }
}

extension Request {
    /// The request without parameters of some names.
    fileprivate func keeping(_ values: PathValues, isPathFirst: Bool) -> Request {
        // Most callers pass nothing that the path says.
        if isPathFirst, let passed = self.passed, !values.isHidden(by: passed) { return self }
        var request = self
        var parameters = (self.passed?.dictionary ?? [:]).filter { !values.says($0.key) }
        // By such conventions the query wins over the path, and only what is passed wins over the query.
        if !isPathFirst { parameters.merge(values.path) { passed, _ in passed } }
        request.passed = .make(parameters)
        return request
    }
}

internal import WaybillRouting

// Exposure applies to URLs, not to routes: `app://user/1` may be the only exposed URL of the route
// `app://user/:id`. In one process, a value that is passed with the call takes precedence over the path. If
// values of a peer had the same precedence, a peer could call `app://user/1` and pass the ID of another user.
extension BusCore {
    /// Returns a peer's request without the passed values that would replace values of the path or of a
    /// configured target.
    func withoutPathOverrides(_ request: Request) -> Request {
        guard self.mayOverridePath(request) else { return request }
        let found = try? self.registry.withTable { table throws(RoutingError) in
            try table.match(request.url).map { match in
                PathValues(match.parameters, table[match]?.group?.configured)
            }
        }
        guard let values = found ?? nil else { return request }
        return request.keeping(values, isPathFirst: self.isPathFirst)
    }

    /// Returns a peer's publication without the passed values that would replace values of the path, for the
    /// subscribers of one pattern.
    func withoutPathOverrides(_ request: Request, of parameters: Parameters) -> Request {
        guard self.mayOverridePath(request) else { return request }
        // Usually no passed value has the name of a value in the path, so avoid a dictionary of these values.
        if self.isPathFirst, let passed = request.passed, !parameters.pathHasName(in: passed) {
            return request
        }
        return request.keeping(PathValues(parameters), isPathFirst: self.isPathFirst)
    }

    private var isPathFirst: Bool {
        self.configuration.conventions.precedence == .pathBeforeQuery
    }

    private func mayOverridePath(_ request: Request) -> Bool {
        request.passed != nil || !self.isPathFirst
    }
}

/// The values in the path of a URL, and the names for which a configured target supplies values.
private struct PathValues: Sendable {
    /// The values by name, also by the names that a configured target gives to them.
    private(set) var path: [String: String]
    private var names: Set<String> = []

    init(_ parameters: Parameters, _ target: ConfiguredTarget? = nil) {
        self.path = parameters.path
        guard case .values(let values) = target else { return }
        self.names.formUnion(values.fixed.keys)
        for (name, source) in values.renamed {
            self.names.insert(name)
            if let value = parameters.path[source] { self.path[name] = value }
        }
    }

    func says(_ name: String) -> Bool { self.path[name] != nil || self.names.contains(name) }

    /// Returns whether a passed value would take precedence over a value of the path or the target.
    func isHidden(by passed: PassedValues) -> Bool {
        self.path.keys.contains { passed[$0] != nil } || self.names.contains { passed[$0] != nil }
    }
}

extension Request {
    /// Returns the request without the passed values whose names are in `values`.
    fileprivate func keeping(_ values: PathValues, isPathFirst: Bool) -> Request {
        // Most callers do not pass a value whose name is in the path.
        if isPathFirst, let passed = self.passed, !values.isHidden(by: passed) { return self }
        var request = self
        var parameters = (self.passed?.dictionary ?? [:]).filter { !values.says($0.key) }
        // The query takes precedence over the path here, but passed values take precedence over both.
        if !isPathFirst { parameters.merge(values.path) { passed, _ in passed } }
        request.passed = .make(parameters)
        return request
    }
}

internal import Waybill
internal import WaybillDocuments
internal import WaybillJSON
internal import WaybillRouting

// Information about routes for a peer.
//
// The information covers only exposed routes, and does not describe the code of their handlers.
extension RPCSession {
    /// Returns the exposed routes, as the result of `$/routes`.
    func describeRoutes() -> JSONText {
        var writer = JSONWriter(capacity: 1024)
        writer.raw("[")
        for (index, route) in self.bus.exposedRoutes(to: self.audience).enumerated() {
            if index > 0 { writer.raw(",") }
            writer.route(route)
        }
        writer.raw("]")
        return JSONText(writer.bytes)
    }

    /// Returns the route for a URL, or the reason that no route matches, as the result of `$/explain`.
    func explain(_ url: String) -> JSONText {
        let explanation = self.bus.explainExposed(url, to: self.audience)
        var writer = JSONWriter()
        writer.raw("{")
        writer.name("url", isFirst: true)
        writer.string(url)
        if let route = explanation.route {
            writer.name("pattern")
            writer.string(route.pattern.text)
        }
        if let error = explanation.error {
            writer.name("error")
            var failure = RPCFailure(error, reference: nil)
            failure.suggestions = explanation.nearest
            writer.failure(failure)
        }
        writer.raw("}")
        return JSONText(writer.bytes)
    }
}

extension JSONWriter {
    fileprivate mutating func route(_ route: RouteDescription) {
        self.raw("{")
        self.name("pattern", isFirst: true)
        self.string(route.pattern)
        if !route.documentation.isEmpty {
            self.name("documentation")
            self.string(route.documentation)
        }
        self.name("parameters")
        self.raw("[")
        for (index, parameter) in route.parameters.enumerated() {
            self.raw(index == 0 ? "{" : ",{")
            self.name("name", isFirst: true)
            self.string(parameter.name)
            self.name("type")
            self.string(parameter.type)
            self.raw("}")
        }
        self.raw("]}")
    }
}

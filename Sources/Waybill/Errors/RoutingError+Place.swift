internal import WaybillRouting

// Where an error is about a message that had found its handler, it says which: whoever passes it on knows.
extension RoutingError {
    /// The error, with the route of a handler.
    func at(_ handler: Handler?) -> RoutingError {
        guard let handler, handler.failure == nil else { return self }
        return self.at(route: handler.pattern, module: handler.module)
    }
}

extension Outcome {
    /// The outcome; a failure with the route of a handler.
    func at(_ handler: Handler?) -> Outcome {
        guard case .failed(let error) = self else { return self }
        return .failed(error.at(handler))
    }
}

extension Handler {
    /// The type of the module that it belongs to, if it belongs to one.
    var module: String? { self.routeDescription?.module ?? self.mailbox.module }
}

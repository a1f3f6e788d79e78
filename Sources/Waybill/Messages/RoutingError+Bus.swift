internal import WaybillRouting

// An error about a message that has reached its handler contains the handler's route. The code that passes on
// the error adds the route with these functions.
extension RoutingError {
    /// Returns the error with the route of a handler.
    func at(_ handler: Handler?) -> RoutingError {
        guard let handler else { return self }
        return self.at(route: handler.pattern, module: handler.module)
    }
}

extension Outcome {
    /// Returns the outcome, in which a failure gets the route of the handler.
    func at(_ handler: Handler?) -> Outcome {
        guard let error = self.failure else { return self }
        return .failed(error.at(handler))
    }
}

extension Handler {
    /// The type of the module that the handler belongs to; nil when the handler does not belong to a module.
    var module: String? { self.description?.route?.module ?? self.mailbox.module }
}

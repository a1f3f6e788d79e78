extension Handler {
    /// What a handler is registered for: a pattern, and for a module's route what else is known of it.
    enum Description: Sendable {
        case pattern(String)
        indirect case route(RouteDescription)
    }

    /// The pattern that it was registered for, also when it has gone.
    var pattern: String? {
        switch self.description {
        case .pattern(let pattern): pattern
        case .route(let description): description.pattern
        case nil: nil
        }
    }
}

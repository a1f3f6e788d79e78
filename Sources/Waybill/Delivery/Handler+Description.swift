extension Handler {
    /// What a handler is registered for: a pattern, and for a module's route what else is known of it.
    enum Description {
        case pattern(String)
        indirect case route(RouteDescription)
        /// A route of a configuration whose target is not there.
        indirect case unbound(RouteConfiguration.Entry)
    }

    /// The pattern that it was registered for, also when it has gone.
    var pattern: String? {
        switch self.description {
        case .pattern(let pattern): pattern
        case .route(let description): description.pattern
        case .unbound(let entry): entry.pattern
        case nil: nil
        }
    }

    /// What is known of the module's route that it handles, if it is one.
    var routeDescription: RouteDescription? {
        if case .route(let description) = self.description { return description }
        return nil
    }

    /// Whether it stands for a target of a configuration that is not there.
    var isUnbound: Bool {
        if case .unbound = self.description { return true }
        return false
    }
}

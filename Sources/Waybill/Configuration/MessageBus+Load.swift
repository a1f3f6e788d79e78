extension MessageBus {
    /// Code that a configuration names as a target; it runs on the bus's loop.
    public typealias Destination = @Sendable (Message) async throws -> any Sendable

    /// Registers the routes of a configuration, in place of those of the one before: all of them at once, or, if
    /// something is wrong, none, and those from before stay.
    ///
    /// A bus has one configuration; load another to change it while the program runs. A route that is in both with the
    /// same target is not disturbed: who waits there goes on waiting. Routes that were registered in code stay as they
    /// are.
    ///
    /// A target that is not there yet is no error: its routes fail with `noHandler` until the module is installed, and
    /// ``validate(urls:)`` names them.
    ///
    /// - Parameters:
    ///   - configuration: what to register.
    ///   - destinations: targets that are no actions of modules, by their names.
    /// - Throws: ``ConfigurationError``, for a pattern that cannot be read or is in conflict.
    public func load(
        _ configuration: RouteConfiguration,
        destinations: [String: Destination] = [:]
    ) throws(ConfigurationError) {
        try self.core.configure(Configured(configuration, destinations, self.core))
    }
}

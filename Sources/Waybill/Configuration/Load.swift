public import WaybillRouting

extension MessageBus {
    /// A closure that a configuration can name as a target.
    ///
    /// The closure runs on the bus's loop.
    public typealias Destination = @Sendable (Message) async throws -> any Sendable

    /// Registers the routes of a configuration, and removes the routes of an earlier configuration with the
    /// same name.
    ///
    /// All routes change at once. If an entry is invalid, no route changes, and the earlier routes stay
    /// registered.
    ///
    /// Configurations with different names complement one another, so each component of a program can load a
    /// configuration. To change a configuration while the program runs, load the configuration again. To
    /// remove a configuration, load an empty configuration with its name. A route that is in the old and the
    /// new configuration with the same target is not affected: callers that wait for a reply of the route
    /// continue to wait. Closures cannot be compared, so a route to a destination always gets the new
    /// closure, and callers that wait for the old closure fail with `noHandler`.
    ///
    /// Routes that were registered in code do not change. Some conventions, for example the conventions of
    /// FTRouter, replace a route whose pattern matches the same URLs. With these conventions, a configured
    /// route hides a route from code until the configuration is removed. A route that code registers later
    /// replaces the configured route until the configuration is loaded again.
    ///
    /// A target that is not registered yet is not an error. The routes of this target fail with `noHandler`
    /// until the module is installed, and ``validate(urls:services:)`` reports these routes.
    ///
    /// - Parameters:
    ///   - configuration: The configuration to register.
    ///   - name: The name of the configuration. The empty name is a valid name.
    ///   - destinations: The targets that are not actions of modules, by name.
    /// - Throws: ``/WaybillRouting/ConfigurationError`` for a pattern that is invalid or in conflict with
    ///   another pattern.
    public func load(
        _ configuration: RouteConfiguration,
        named name: String = "",
        destinations: [String: Destination] = [:]
    ) throws(ConfigurationError) {
        try self.core.configure(
            Configured(configuration, named: name, destinations: destinations, on: self.core)
        )
    }
}

public import WaybillRouting

extension MessageBus {
    /// A closure that a configuration can name as a target, and that runs on the bus's loop.
    public typealias Destination = @Sendable (Message) async throws -> any Sendable

    /// Registers the routes of a configuration, and removes the routes of an earlier configuration with the
    /// same name.
    ///
    /// All routes change at once. If an entry is invalid, no route changes.
    ///
    /// Configurations with different names complement one another. To change a configuration while the
    /// program runs, load it again. To remove a configuration, load an empty configuration with its name.
    /// Callers continue to wait for a reply of a route that is in the old and the new configuration with the
    /// same target. Closures cannot be compared, so callers that wait for the old closure of a destination
    /// fail with `noHandler`.
    ///
    /// Routes that were registered in code do not change. With conventions that replace routes, for example
    /// the conventions of FTRouter, a configured route hides a route from code until the configuration is
    /// removed. A route that code registers later replaces the configured route until the configuration is
    /// loaded again.
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
        let next = Configured(configuration, named: name, destinations: destinations, on: self.core)
        try self.core.bindConfigurations { $0.put(next) }
    }
}

public import WaybillRouting

/// Routes that are not registered in code.
///
/// They map patterns to actions of modules.
///
/// ```swift
/// let configuration: RouteConfiguration = [
///     "shop://product/:id": "Catalog.product",
///     "shop://start": "app://catalog/featured",
/// ]
/// try bus.load(configuration)
/// ```
///
/// The product `WaybillConfiguration` reads configurations from files, with
/// `RouteConfiguration(contentsOf:)`.
///
/// The following targets are possible:
///
/// - The action of a module, for example `Catalog.product`. The action alone is sufficient when the scheme of
///   the pattern names the module. For example, `catalog://…` names `Catalog`, `CatalogModule` or
///   `CatalogController`.
/// - The URL of another route.
/// - The name of a destination that is passed to ``MessageBus/load(_:named:destinations:)``.
public struct RouteConfiguration: Sendable, Hashable {
    /// A pattern and its target.
    public struct Entry: Sendable, Hashable {
        /// The pattern of the URLs.
        public let pattern: String

        /// The name of the target that handles the URLs.
        public let target: String

        /// The position of the entry in a file or in code.
        public let source: Source

        /// Creates an entry.
        public init(pattern: String, target: String, source: Source = Source()) {
            self.pattern = pattern
            self.target = target
            self.source = source
        }
    }

    /// The position of an entry in a file or in code.
    public struct Source: Sendable, Hashable {
        /// The name of the file; empty for an entry in code.
        public let file: String

        /// The line in the file, from 1; nil when the line is not known.
        public let line: Int?

        /// The key of the entry.
        public let key: String

        /// Creates a source.
        public init(file: String = "", line: Int? = nil, key: String = "") {
            self.file = file
            self.line = line
            self.key = key
        }
    }

    /// The entries, in the order in which they are written.
    public var entries: [Entry]

    /// Creates a configuration.
    public init(_ entries: [Entry] = []) { self.entries = entries }
}

extension RouteConfiguration: ExpressibleByDictionaryLiteral {
    /// Creates a configuration from patterns and their targets.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Entry(pattern: $0, target: $1, source: Source(key: $0)) })
    }
}

extension RouteConfiguration.Source: CustomStringConvertible {
    /// The known parts of the position, for example `order.yaml:7: detail`.
    public var description: String {
        var place = self.file
        if let line = self.line { place += ":\(line)" }
        if !self.key.isEmpty { place += place.isEmpty ? "`\(self.key)`" : ": `\(self.key)`" }
        return place.onOneLine
    }
}

/// The problem with a configuration, and its position.
public struct ConfigurationError: Error, CustomStringConvertible {
    /// The position of the problem: file, line and key.
    public let source: RouteConfiguration.Source

    /// The problem, in one sentence for a person.
    public let message: String

    /// The error of the pattern, `invalidPattern` or `conflict`; nil when the pattern is not the problem.
    public let cause: RoutingError?

    /// Creates an error.
    public init(_ source: RouteConfiguration.Source, _ message: String, cause: RoutingError? = nil) {
        self.source = source
        self.message = message
        self.cause = cause
    }

    /// One readable line with the position and the message.
    public var description: String { "\(self.source): \(self.message)".onOneLine }
}

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
    /// - Throws: ``ConfigurationError`` for a pattern that is invalid or in conflict with another pattern.
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

public import WaybillRouting

/// Routes that are written beside the code: which pattern leads to which module's action.
///
/// ```swift
/// let configuration: RouteConfiguration = [
///     "shop://product/:id": "Catalog.product",
///     "shop://start": "app://catalog/featured",
/// ]
/// try bus.load(configuration)
/// ```
///
/// The product `WaybillConfiguration` reads one from files: `RouteConfiguration(contentsOf:)`.
///
/// A target is the action of a module (`Catalog.product`, or `product` alone where the scheme of the pattern
/// names the module, as `catalog://…` names `Catalog`, `CatalogModule` or `CatalogController`), the URL of
/// another route, or the name of a destination that is passed to ``MessageBus/load(_:named:destinations:)``.
public struct RouteConfiguration: Sendable, Hashable {
    /// One pattern and where it leads.
    public struct Entry: Sendable, Hashable {
        /// What URLs it is for.
        public let pattern: String

        /// The name of what handles them.
        public let target: String

        /// Where it is written.
        public let source: Source

        /// Makes an entry.
        public init(pattern: String, target: String, source: Source = Source()) {
            self.pattern = pattern
            self.target = target
            self.source = source
        }
    }

    /// Where an entry is written.
    public struct Source: Sendable, Hashable {
        /// The file, as it was named; empty for an entry that is written in code.
        public let file: String

        /// The line in the file, from 1, if it is known.
        public let line: Int?

        /// The key under which it stands.
        public let key: String

        /// Makes a source.
        public init(file: String = "", line: Int? = nil, key: String = "") {
            self.file = file
            self.line = line
            self.key = key
        }
    }

    /// What is written, in its order.
    public var entries: [Entry]

    /// Makes a configuration.
    public init(_ entries: [Entry] = []) { self.entries = entries }
}

extension RouteConfiguration: ExpressibleByDictionaryLiteral {
    /// Patterns and their targets.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Entry(pattern: $0, target: $1, source: Source(key: $0)) })
    }
}

extension RouteConfiguration.Source: CustomStringConvertible {
    /// `order.yaml:7: detail`, as far as it is known.
    public var description: String {
        var place = self.file
        if let line = self.line { place += ":\(line)" }
        if !self.key.isEmpty { place += place.isEmpty ? "`\(self.key)`" : ": `\(self.key)`" }
        return place.onOneLine
    }
}

/// What is wrong with a configuration, and where.
public struct ConfigurationError: Error, CustomStringConvertible {
    /// The place: file, line and key.
    public let source: RouteConfiguration.Source

    /// What is wrong, in one sentence for a person.
    public let message: String

    /// The error underneath: `invalidPattern` or `conflict`, if it is the pattern that cannot be registered.
    public let cause: RoutingError?

    /// Makes an error.
    public init(_ source: RouteConfiguration.Source, _ message: String, cause: RoutingError? = nil) {
        self.source = source
        self.message = message
        self.cause = cause
    }

    /// One readable line: place and sentence.
    public var description: String { "\(self.source): \(self.message)".onOneLine }
}

extension MessageBus {
    /// Code that a configuration names as a target; it runs on the bus's loop.
    public typealias Destination = @Sendable (Message) async throws -> any Sendable

    /// Registers the routes of a configuration, in place of the routes of the one before with the same name:
    /// all of them at once, or, if something is wrong, none, and those from before stay.
    ///
    /// Configurations of different names add up, so that each component brings its own; load one again to
    /// change it while the program runs, and an empty one to take it away. A route that is in both with the
    /// same target is not disturbed: callers that wait for it continue to wait.
    ///
    /// Routes that were registered in code stay as they are. By conventions that replace routes of the same
    /// shape, as FTRouter's, a configured route hides such a route until its configuration goes, and a route
    /// that code registers later replaces the configured one until its configuration is loaded again.
    ///
    /// A target that is not registered yet is not an error: its routes fail with `noHandler` until the module
    /// is installed, and ``validate(urls:)`` names them.
    ///
    /// - Parameters:
    ///   - configuration: what to register.
    ///   - name: the name of the configuration; the empty name is one as any other.
    ///   - destinations: targets that are not actions of modules, by their names.
    /// - Throws: ``ConfigurationError``, for a pattern that cannot be read or is in conflict.
    public func load(
        _ configuration: RouteConfiguration,
        named name: String = "",
        destinations: [String: Destination] = [:]
    ) throws(ConfigurationError) {
        try self.core.configure(Configured(configuration, named: name, destinations, self.core))
    }
}

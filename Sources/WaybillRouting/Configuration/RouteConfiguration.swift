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
/// - The name of a destination that is passed to `MessageBus.load(_:named:destinations:)`.
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

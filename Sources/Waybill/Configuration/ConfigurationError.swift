public import WaybillRouting

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

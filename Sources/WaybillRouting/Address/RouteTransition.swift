/// How what is behind a URL is to appear: pushed, presented, or taken away again.
///
/// A URL says it with its first segment, `app://push/user/detail?uid=1`, where
/// ``RoutingConventions/leadingVerbs`` has that word; it is no part of the path then. Kinds of a program's
/// own are names like any other.
public struct RouteTransition: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name, in lower case as URLs are compared.
    public let rawValue: String

    /// Makes a kind of any name.
    public init(rawValue: String) { self.rawValue = rawValue.lowercased() }

    /// The same, as a literal.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// On top of what is there.
    public static let push: Self = "push"
    /// In front of everything, until it is dismissed.
    public static let present: Self = "present"
    /// Back to what was there before.
    public static let back: Self = "back"
    /// In place of everything that is there.
    public static let root: Self = "root"
    /// As the place where it appears sees fit.
    public static let show: Self = "show"
    /// As a part of what is there.
    public static let embed: Self = "embed"
    /// Away, wherever it is.
    public static let remove: Self = "remove"
}

extension RouteTransition: CustomStringConvertible {
    /// The name.
    public var description: String { self.rawValue }
}

// As the name alone.
extension RouteTransition: Codable {}

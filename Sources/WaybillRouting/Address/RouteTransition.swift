/// The kind of change with which the destination of a URL appears or disappears, for example pushed or
/// presented.
///
/// A URL names a transition in its first segment, as in `app://push/user/detail?uid=1`. The word must be one
/// of ``RoutingConventions/leadingVerbs``, and is then not part of the path. A program may define further
/// transitions by name.
public struct RouteTransition: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name, in lower case.
    public let rawValue: String

    /// Creates a transition with any name.
    public init(rawValue: String) { self.rawValue = rawValue.lowercased() }

    /// Creates a transition from a string literal.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// Shows the content on top of the current content.
    public static let push: Self = "push"
    /// Shows the content in front of all other content, until it is dismissed.
    public static let present: Self = "present"
    /// Returns to the previous content.
    public static let back: Self = "back"
    /// Replaces all current content.
    public static let root: Self = "root"
    /// Shows the content with the transition that the presenting container chooses.
    public static let show: Self = "show"
    /// Shows the content as a part of the current content.
    public static let embed: Self = "embed"
    /// Removes the content, wherever it is shown.
    public static let remove: Self = "remove"
}

extension RouteTransition: CustomStringConvertible {
    /// The name.
    public var description: String { self.rawValue }
}

// A transition is encoded as its name alone.
extension RouteTransition: Codable {}

/// A registration, as a table lists it.
public struct Route: Sendable {
    /// What the registration is known by.
    public let id: RouteID
    /// The pattern, as it was written.
    public let pattern: RoutePattern
    /// The file of the registration, as `#fileID` names it.
    public let fileID: String
    /// The line of the registration.
    public let line: Int
    /// What the pattern names, with types.
    public var parameters: [RoutePattern.Parameter] { self.pattern.parameters }
}

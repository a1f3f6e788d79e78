/// A customer's visit, from signing in to signing out.
public struct Session: Codable, Hashable, Sendable {
    /// The token of the session.
    public let token: SessionToken
    /// The customer who has signed in.
    public let user: User

    /// Creates a session.
    public init(token: SessionToken, user: User) {
        self.token = token
        self.user = user
    }
}

extension Session: CustomStringConvertible {
    /// The customer, and the token to use.
    public var description: String { "\(self.user), session=\(self.token)" }
}

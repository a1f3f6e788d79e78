/// A customer.
public struct User: Codable, Hashable, Identifiable, Sendable {
    /// The customer's number.
    public let id: Int
    /// The name to sign in with.
    public let name: String

    /// Creates a customer.
    public init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
}

extension User: CustomStringConvertible {
    /// The name and the number.
    public var description: String { "\(self.name) (customer \(self.id))" }
}

public import WaybillRouting

/// What comes back for a message: the handler's value, with the ID of the message that it answers.
///
/// Ask the bus for the value directly when that is all you need:
/// `let user: User = try await bus.route("app://user/detail?uid=1")`.
public struct Reply: Sendable {
    /// The ID of the message that this answers.
    public let correlationID: CorrelationID

    /// What the handler returned; `()` if it returns nothing.
    public let value: any Sendable

    /// The URL of the message that this answers.
    public let url: String

    /// Whether the handler has returned; false for a reply before the last one.
    public let isLast: Bool

    /// The value as the type that the caller needs.
    ///
    /// - Throws: `typeMismatch`, naming both types.
    public func value<Value: Sendable>(as type: Value.Type) throws(RoutingError) -> Value {
        guard let value = self.value as? Value else {
            throw .typeMismatch(url: self.url, wanted: type, found: self.value)
        }
        return value
    }
}

extension Reply: CustomStringConvertible {
    /// One readable line: ID, URL and value.
    public var description: String {
        "reply \(self.correlationID) from \(self.url): \(self.value)".onOneLine
    }
}

package import WaybillRouting

/// A published message that a server has sent to a subscriber in another process, as JSON.
package struct PublishedMessage: Sendable {
    package let url: String
    package let headers: [String: String]
    private let parameters: JSONText?
    private let content: JSONText?

    /// Creates a message.
    ///
    /// - Parameters:
    ///   - json: An object with the members `url` and `parameters`.
    ///   - beside: The object with the members `headers` and `payload`, which may be the same object.
    package init(_ json: JSONText, beside: JSONText?) {
        let headers = (beside?.member(named: "headers")?.members ?? []).compactMap { name, value in
            value.string.map { (name, $0) }
        }
        self.url = json.member(named: "url")?.string ?? ""
        self.headers = Dictionary(headers) { first, _ in first }
        self.parameters = json.member(named: "parameters")
        self.content = beside?.member(named: "payload")
    }

    /// Returns a parameter of the message; nil if the message has no parameter with the name.
    package func parameter<Value>(_ name: String, as type: Value.Type) throws(RoutingError) -> Value? {
        try self.decoded(self.parameters?.member(named: name), as: type)
    }

    /// Returns the payload of the message; nil if the message has no payload.
    package func payload<Value>(as type: Value.Type) throws(RoutingError) -> Value? {
        try self.decoded(self.content, as: type)
    }

    private func decoded<Value>(_ text: JSONText?, as type: Value.Type) throws(RoutingError) -> Value? {
        guard let text else { return nil }
        if let value = try? text.decoded(as: type) { return value }
        throw RoutingError(.typeMismatch, url: self.url, message: "the value is not a \(type)")
    }
}

package import Waybill
internal import WaybillRouting

// Conversion between events and messages. The data of an event becomes the payload or the parameters of a
// message, and the attributes become headers.
extension CloudEvent {
    /// The attributes as headers of a message, such as `ce-id` and `ce-source`, with decoded values.
    package var messageHeaders: [String: String] {
        var headers: [String: String] = [:]
        for (name, value) in self.attributes { headers[Self.headerPrefix + name] = value }
        return headers
    }

    /// The deadline that the attribute `expirytime` contains; nil if the event has no such attribute.
    package var deadline: ContinuousClock.Instant? {
        guard let end = self["expirytime"].flatMap({ Timestamp.seconds($0) }) else { return nil }
        return .now + .seconds(end - Timestamp.now)
    }

    /// Creates the event for a message.
    ///
    /// A message that arrived as an event becomes the same event again. If the data of the message cannot be
    /// encoded, the event has no data.
    ///
    /// - Parameters:
    ///   - message: The message. The data of the event is its payload or, without a payload, its parameters.
    ///   - pattern: The pattern that the message matched, which becomes the `type`.
    ///   - source: The `source` attribute, which identifies the sending node.
    package init(_ message: Message, of pattern: String, from source: String) {
        if let event = Self(carriedBy: message) {
            self = event
            self.data = event.carriedData(of: message)
        } else {
            self.init(attributesOf: message, of: pattern, from: source)
            self.data = Self.data(of: message)
        }
    }

    /// Creates the event for a message that did not arrive as an event.
    ///
    /// The data is not included.
    package init(attributesOf message: Message, of pattern: String, from source: String) {
        var attributes = [
            "id": Self.id(of: message.id), "source": source, "type": pattern,
            "subject": message.address.completeURL, "datacontenttype": "application/json",
        ]
        if let deadline = message.deadline {
            attributes["expirytime"] = Timestamp.text(Timestamp.now + (deadline - .now) / .seconds(1))
        }
        self.init(known: attributes, data: nil)
    }

    /// Returns the `id` of the event for a message.
    ///
    /// The source and the ID together identify an event. Each process numbers its messages from the
    /// beginning, so the ID also contains a random prefix for the process.
    package static func id(of message: CorrelationID) -> String { "\(Self.process)-\(message)" }

    private static let process = String(UInt64.random(in: 0 ... .max), radix: 36)

    /// Creates the event from which a message was made, without the data of the event.
    ///
    /// Returns nil if the message did not arrive as an event.
    package init?(carriedBy message: Message) {
        var attributes: [String: String] = [:]
        for (name, value) in message.headers where name.utf8.starts(with: Self.headerPrefix.utf8) {
            let attribute = String(decoding: name.utf8.dropFirst(Self.headerPrefix.utf8.count), as: UTF8.self)
            // A message with a header that is not an attribute did not arrive as an event.
            guard Self.isName(attribute) else { return nil }
            attributes[attribute] = value
        }
        try? self.init(attributes)
    }

    /// Returns the data of the event from which a message was made.
    ///
    /// The payload of the message contains the data.
    package func carriedData(of message: Message) -> [UInt8]? {
        switch message.payload {
        case nil: nil
        case let text as String where !Self.isJSON(self.contentType): Array(text.utf8)
        case let bytes as [UInt8]: bytes
        default: try? Array(message.payload(as: JSONText.self).slice)
        }
    }

    /// Returns the data for a message that did not arrive as an event: its payload, or else its parameters.
    private static func data(of message: Message) -> [UInt8]? {
        if let payload = message.rawPayload { return try? JSONWriter.encoded(payload) }
        let parameters = message.parameters
        var values: [String: any Sendable] = parameters.query
        for (name, text) in parameters.path { values[name] = text }
        for (name, value) in parameters.passedValues { values[name] = value }
        return try? JSONWriter.encoded(values)
    }
}

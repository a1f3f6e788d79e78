package import Waybill
internal import WaybillRouting

// What an event is for the bus: its data becomes parameters or payload, and its attributes become headers.
extension CloudEvent {
    /// The attributes as a message has them among its headers: `ce-id`, `ce-source`, and so on, as they read.
    package var messageHeaders: [String: String] {
        var headers: [String: String] = [:]
        for (name, value) in self.attributes { headers[Self.headerPrefix + name] = value }
        return headers
    }

    /// When the event is not worth delivering any more, from the time that is left; nil if it does not say
    /// so.
    package var deadline: ContinuousClock.Instant? {
        guard let end = self["expirytime"].flatMap({ Timestamp.seconds($0) }) else { return nil }
        return .now + .seconds(end - Timestamp.now)
    }

    /// The event that stands for a message.
    ///
    /// A message that came as an event is that event: it is not wrapped a second time. There is no data if
    /// the message has none that can be encoded.
    ///
    /// - Parameters:
    ///   - message: the message, whose payload or parameters are the data.
    ///   - pattern: what the message was delivered by, the event's type.
    ///   - source: the node that sends the event.
    package init(_ message: Message, of pattern: String, from source: String) {
        if let event = Self.carried(by: message) {
            self = event
            return
        }
        var attributes = [
            "id": Self.id(of: message.id), "source": source, "type": pattern, "subject": message.address.text,
            "datacontenttype": "application/json",
        ]
        if let deadline = message.deadline {
            attributes["expirytime"] = Timestamp.text(Timestamp.now + (deadline - .now) / .seconds(1))
        }
        self.init(known: attributes, data: Self.data(of: message))
    }

    /// The ID of the event that stands for a message.
    ///
    /// Source and ID say together which event it is, and each process counts its messages from the beginning:
    /// what is random here is the process's.
    package static func id(of message: CorrelationID) -> String { "\(Self.process)-\(message)" }

    private static let process = String(UInt64.random(in: 0 ... .max), radix: 36)

    /// The event that a message came as, whose data is the payload as it came; nil for any other message.
    private static func carried(by message: Message) -> CloudEvent? {
        var attributes: [String: String] = [:]
        for (name, value) in message.headers where name.utf8.starts(with: Self.headerPrefix.utf8) {
            let attribute = String(decoding: name.utf8.dropFirst(Self.headerPrefix.utf8.count), as: UTF8.self)
            // A message with a header that is not an attribute did not come as an event.
            guard Self.isName(attribute) else { return nil }
            attributes[attribute] = value
        }
        let data: [UInt8]?
        switch message.payload {
        case nil: data = nil
        case let text as String where !Self.isJSON(attributes["datacontenttype"] ?? "application/json"):
            data = Array(text.utf8)
        case let bytes as [UInt8]: data = bytes
        default: data = try? Array(message.payload(as: JSONText.self).slice)
        }
        return try? CloudEvent(attributes, data: data)
    }

    /// The payload of any other message, or its parameters.
    private static func data(of message: Message) -> [UInt8]? {
        if let payload = message.payload { return try? JSONWriter.encoded(payload) }
        let parameters = message.parameters
        var values: [String: any Sendable] = parameters.query
        for (name, text) in parameters.path { values[name] = text }
        for (name, value) in parameters.passedValues { values[name] = value }
        return try? JSONWriter.encoded(values)
    }
}

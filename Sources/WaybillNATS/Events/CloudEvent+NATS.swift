internal import WaybillJSON

/// How an event of CloudEvents stands in a message of NATS.
enum EventMode: Sendable {
    /// The payload is the event.
    case structured
    /// The attributes are headers, and the payload is the data.
    case binary
}

extension CloudEvent {
    private static let contentTypeHeader = "content-type"

    /// The event that a message is, and how it stands there; nil if it is none.
    ///
    /// Names of headers are read in any case, and the type of the data as `content-type` and as
    /// `ce-datacontenttype`: libraries differ in both.
    static func carried(
        by message: TransportMessage
    ) throws(CloudEventError) -> (event: CloudEvent, mode: EventMode)? {
        guard !message.headers.isEmpty else { return nil }
        let contentType = message.header(named: Self.contentTypeHeader)
        if contentType.map({ Self.mediaType(of: $0) }) == Self.structuredType {
            return (try CloudEvent(structured: message.payload), .structured)
        }
        guard message.header(named: Self.headerPrefix + "specversion") != nil else { return nil }
        let event = try CloudEvent(headers: message.headers, contentType: contentType, body: message.payload)
        return (event, .binary)
    }

    /// The event as payload and headers.
    func encoded(as mode: EventMode) -> (payload: [UInt8], headers: [(name: String, value: String)]) {
        switch mode {
        case .structured: return (self.structured, [(Self.contentTypeHeader, Self.structuredType)])
        case .binary:
            var headers = self.headers
            // There is no other header for it in the binding to NATS.
            if self.data != nil { headers.append((Self.headerPrefix + "datacontenttype", self.contentType)) }
            return (self.data ?? [], headers)
        }
    }
}

extension String {
    /// Whether the text is one in lower case, apart from the case of its ASCII letters.
    fileprivate func hasLetters(of lowercase: String) -> Bool {
        self.utf8.count == lowercase.utf8.count
            && zip(self.utf8, lowercase.utf8).allSatisfy { own, other in
                (0x41...0x5A).contains(own) ? own | 0x20 == other : own == other
            }
    }
}

extension TransportMessage {
    /// The value of a header, by its name in lower case.
    fileprivate func header(named name: String) -> String? {
        self.headers.first { $0.name.hasLetters(of: name) }?.value
    }
}

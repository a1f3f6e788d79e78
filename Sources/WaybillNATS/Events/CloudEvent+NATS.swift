internal import WaybillJSON
internal import WaybillRouting
internal import WaybillServe

/// The encoding of a CloudEvents event in a NATS message.
enum EventMode: Sendable {
    /// The payload is the whole event.
    case structured
    /// The attributes are headers, and the payload is the data.
    case binary
}

extension CloudEvent {
    private static let contentTypeHeader = "content-type"

    /// Returns the event in a message and the mode of its encoding, or nil when the message has no event.
    ///
    /// Header names are compared without regard to case. The content type is read from `content-type` and
    /// from `ce-datacontenttype`, because libraries use different names and different cases.
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

    /// Returns the reason that another node could not read the data of the event in a mode, or nil.
    func objection(in mode: EventMode, _ url: String) -> RoutingError? {
        guard let data = self.data, Self.isJSON(self.contentType) else { return nil }
        let depthLimit = JSONText.depthLimit - (mode == .structured ? 1 : 0)
        return JSONText(data).objection(depthLimit: depthLimit, url: url)
    }

    /// Returns the payload and the headers that encode the event in a mode.
    ///
    /// The binary mode does not include attributes whose values are empty.
    func encoded(as mode: EventMode) -> (payload: [UInt8], headers: [(name: String, value: String)]) {
        switch mode {
        case .structured: return (self.structured, [(Self.contentTypeHeader, Self.structuredType)])
        case .binary:
            // Programs with libnats 3.4.1 read the header after an empty header as its value.
            var headers = self.headers.filter { !$0.value.isEmpty }
            // The binding of CloudEvents to NATS does not define a different header for the content type.
            if self.data != nil { headers.append((Self.headerPrefix + "datacontenttype", self.contentType)) }
            return (self.data ?? [], headers)
        }
    }
}

extension String {
    /// Returns whether the text equals a lower-case text when the case of its ASCII letters is ignored.
    fileprivate func hasLetters(of lowercase: String) -> Bool {
        self.utf8.count == lowercase.utf8.count
            && zip(self.utf8, lowercase.utf8).allSatisfy { own, other in
                (0x41...0x5A).contains(own) ? own | 0x20 == other : own == other
            }
    }
}

extension TransportMessage {
    /// Returns the value of the header with a lower-case name.
    fileprivate func header(named name: String) -> String? {
        self.headers.first { $0.name.hasLetters(of: name) }?.value
    }
}

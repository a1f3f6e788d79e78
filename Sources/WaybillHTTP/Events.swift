#if HTTP
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// The encoding of a CloudEvents event in an HTTP request or response.
enum EventMode {
    /// The body is the whole event.
    case structured
    /// The attributes are headers, and the body is the data.
    case binary

    /// Creates the encoding for the response to a request, or returns nil when the response is not an event.
    ///
    /// The response uses the encoding of the request, or the structured mode if the request accepts it.
    init?(of request: Request) {
        if Self.isStructured(request.headers[.contentType]) {
            self = .structured
        } else if request.headers[.eventVersion] != nil {
            self = .binary
        } else if request.headers[.accept]?.hasBytes(of: CloudEvent.structuredType) == true {
            self = .structured
        } else {
            return nil
        }
    }

    static func isStructured(_ contentType: String?) -> Bool {
        contentType.map { CloudEvent.mediaType(of: $0) } == CloudEvent.structuredType
    }
}

extension CloudEvent {
    /// Creates the event that a request contains, or returns nil when the request does not contain an event.
    init?(_ request: Request, body: ByteBuffer) throws(Problem) {
        let contentType = request.headers[.contentType]
        do throws(CloudEventError) {
            if EventMode.isStructured(contentType) {
                try self.init(structured: Array(body.readableBytesView))
            } else if request.headers[.eventVersion] != nil {
                try self.init(
                    headers: request.headers.lazy.map { ($0.name.canonicalName, $0.value) },
                    contentType: contentType,
                    body: Array(body.readableBytesView)
                )
            } else {
                return nil
            }
        } catch {
            throw Problem(.badRequest, "\(error)")
        }
    }

    /// Creates the event for a reply.
    init(_ reply: CallReply, of pattern: String, at url: String, from source: String) {
        self.init(
            known: [
                "id": Self.id(of: reply.id), "source": source, "type": pattern, "subject": url,
                "datacontenttype": "application/json",
            ],
            data: reply.json
        )
    }
}

extension Response {
    init(
        _ event: CloudEvent,
        _ mode: EventMode,
        _ unread: UnreadReplies,
        for client: String?
    ) throws(Problem) {
        switch mode {
        case .structured:
            try self.init(json: event.structured, unread, for: client)
            self.headers[.contentType] = CloudEvent.structuredType
        case .binary:
            if let data = event.data {
                try self.init(json: data, unread, for: client)
            } else {
                self.init(status: .noContent)
            }
            for (name, value) in event.headers {
                if let name = HTTPField.Name(name) { self.headers[name] = value }
            }
        }
    }
}

extension Request {
    /// The source of this server's events, which contains the name that the client used for the server.
    var source: String { "//\(self.head.authority ?? "")" }
}

extension ExposedOperations {
    /// Whether an event to the URL is published, because the URL is exposed for publishing and not for calls.
    var isPublishedAlone: Bool { self.contains(.publishing) && !self.contains(.calls) }
}

extension HTTPField.Name {
    /// The header that occurs in every event in the binary mode.
    fileprivate static let eventVersion = Self.known("ce-specversion")
}
#endif

#if HTTP
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// How an event of CloudEvents stands in a request or a response.
enum EventMode {
    /// The body is the event.
    case structured
    /// The attributes are headers, and the body is the data.
    case binary

    /// How the response to a request is an event: as the request is one, or as it asks for; nil if it is
    /// none.
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
    /// The event that a request is; nil if it is none.
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

    /// The event that a reply is.
    ///
    /// - Parameters:
    ///   - reply: the reply, whose ID is part of the event's.
    ///   - pattern: the pattern of the route that gave it, the event's type.
    ///   - url: what was called, the event's subject.
    ///   - source: the authority of the server.
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
    /// A response that is an event.
    init(_ event: CloudEvent, _ mode: EventMode) {
        switch mode {
        case .structured:
            self.init(json: event.structured)
            self.headers[.contentType] = CloudEvent.structuredType
        case .binary:
            if let data = event.data { self.init(json: data) } else { self.init(status: .noContent) }
            for (name, value) in event.headers {
                if let name = HTTPField.Name(name) { self.headers[name] = value }
            }
        }
    }
}

extension Request {
    /// What the events of this server come from: the server, as the client names it.
    var source: String { "//\(self.head.authority ?? "")" }
}

extension ExposedOperations {
    /// Whether an event can be published and nothing else.
    var isPublishedAlone: Bool { self.contains(.publishing) && !self.contains(.calls) }
}

extension HTTPField.Name {
    /// What makes a request an event whose attributes are headers.
    fileprivate static let eventVersion = Self.known("ce-specversion")
}
#endif

#if HTTP
package import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// The parts of an HTTP request from which the gateway makes a request to the bus.
struct GatewayRequest: Sendable {
    let url: String
    private(set) var parameters: [String: any Sendable] = [:]
    /// The number of values in the body; each text of a parameter that a form contains several times counts.
    private(set) var valueCount = 0
    /// A JSON body that is not an object, or the data of an event.
    private(set) var payload: (any Sendable)?
    /// The event in the request, in the structured or the binary mode.
    private(set) var event: CloudEvent?

    /// Creates the parts from an HTTP request whose body has been collected.
    init(_ request: Request, behind context: some RequestContext, body: ByteBuffer) throws(Problem) {
        guard request.head.path?.utf8.contains(UInt8(ascii: "#")) != true else {
            throw Problem(
                .badRequest,
                "the target contains `#`: encode it as `%23`; the header Waybill-Return names a return URL"
            )
        }
        guard let url = Self.url(of: request, behind: context) else {
            throw Problem(
                .notFound,
                "the path must begin with the scheme of a URL, as in /app/user/1 for app://user/1"
            )
        }
        self.url = request.headers[.waybillReturn].map { "\(url)#\($0)" } ?? url
        if let event = try CloudEvent(request, body: body) {
            self.event = event
            try self.read(event)
            self.valueCount += event.attributes.count
        } else if body.readableBytes > 0 {
            try self.read(Array(body.readableBytesView), request.headers[.contentType] ?? "")
        }
    }

    /// Returns the URL in the path and the query of a request.
    ///
    /// Returns nil when the path does not begin with a scheme. Percent-encoded characters stay encoded,
    /// because the bus decodes them.
    private static func url(of request: Request, behind context: some RequestContext) -> String? {
        if let target = request.head.path, let pattern = context.endpointPath, pattern.hasSuffix("/**"),
            let (scheme, rest) = self.split(target, behind: pattern)
        {
            var url = String(scheme)
            guard Address.isScheme(url) else { return nil }
            url += "://"
            url += rest
            return url
        }
        let path = context.parameters.getCatchAll()
        guard let scheme = path.first, Address.isScheme(String(scheme)) else { return nil }
        let query = request.uri.query.map { "?\($0)" } ?? ""
        return "\(scheme)://\(path.dropFirst().joined(separator: "/"))\(query)"
    }

    /// Splits the path and query of a request into the scheme and the remaining text.
    ///
    /// For example, if the path of the gateway is `/bus/**`, the method splits `/bus/app/user/1?a=b` into
    /// `app` and `user/1?a=b`.
    ///
    /// - Returns: The two parts, or nil when the text contains an empty segment, so that the path of
    ///   Hummingbird's parser must be used.
    private static func split(_ target: String, behind pattern: String) -> (Substring, Substring)? {
        let slash = UInt8(ascii: "/")
        let bytes = target.utf8.span
        var ahead = pattern.utf8.count { $0 == slash }
        var (start, schemeEnd) = (0, 0)
        var pathEnd = bytes.count
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: "?") { pathEnd = min(pathEnd, index) }
            guard byte == slash, index < pathEnd else { continue }
            if index > 0, bytes[index - 1] == slash { return nil }
            ahead -= 1
            if ahead == 0 { start = index + 1 }
            if ahead == -1 { schemeEnd = index }
        }
        guard start > 0, bytes[0] == slash, start < pathEnd, bytes[pathEnd - 1] != slash else { return nil }
        func index(_ offset: Int) -> String.Index { target.utf8.index(target.startIndex, offsetBy: offset) }
        guard schemeEnd > 0 else { return (target[index(start)..<index(pathEnd)], target[index(pathEnd)...]) }
        return (target[index(start)..<index(schemeEnd)], target[index(schemeEnd + 1)...])
    }

    private mutating func read(_ bytes: [UInt8], _ contentType: String) throws(Problem) {
        let type = CloudEvent.mediaType(of: contentType)
        if CloudEvent.isJSON(type), type != CloudEvent.batchType {
            do throws(JSONError) {
                try self.read(json: bytes)
            } catch {
                throw Problem(.badRequest, "the body is rejected: \(error)")
            }
        } else if type == "application/x-www-form-urlencoded" {
            let items = try FormItems(bytes)
            self.parameters = items.values
            self.valueCount = items.count
            if self.event != nil { try self.keep(bytes) }
        } else if self.event != nil {
            try self.keep(bytes)
        } else {
            throw Problem(.unsupportedMediaType, "the Content-Type of a body must be JSON or a form")
        }
    }

    /// Makes the data of an event, which is not JSON, the payload of the message.
    private mutating func keep(_ bytes: [UInt8]) throws(Problem) {
        let text = String(validating: bytes, as: UTF8.self)
        if let text { try Problem.checkMarks(in: text) }
        self.payload = text ?? bytes
    }

    /// Reads the data of an event in the same way as a body with the content type of the data.
    private mutating func read(_ event: CloudEvent) throws(Problem) {
        if let data = event.data { try self.read(data, event.contentType) }
    }

    private mutating func read(json bytes: [UInt8]) throws(JSONError) {
        let value = try JSONText(validating: bytes)
        self.parameters = value.parameters ?? [:]
        self.valueCount = self.parameters.count
        // If the event is forwarded later, the forwarded event must contain the same data.
        if value.shape != .object || self.event != nil { self.payload = value }
    }
}

extension WaybillGateway {
    /// Returns the request for the bus that an HTTP request represents.
    func external(
        _ request: GatewayRequest,
        _ http: Request,
        from peer: SocketAddress?
    ) throws(Problem) -> ExternalRequest {
        var headers: [String: String] = [:]
        for field in http.headers where self.configuration.headers.contains(field.name.canonicalName) {
            try Problem.checkMarks(in: field.value)
            // Lines with the same name are one list (RFC 9110, section 5.3).
            headers[field.name.canonicalName] = http.headers[field.name]
        }
        if let event = request.event {
            headers.merge(event.messageHeaders) { _, attribute in attribute }
        }
        let deadline = ContinuousClock.now + self.timeout(of: http)
        return ExternalRequest(
            url: request.url,
            parameters: request.parameters,
            headers: headers,
            deadline: min(deadline, request.event?.deadline ?? deadline),
            hops: http.headers[.waybillHops].flatMap { Int($0) } ?? 0,
            payload: request.payload,
            origin: MessageOrigin(transport: "http", peer: peer?.ipAddress)
        )
    }

    private func timeout(of request: Request) -> Duration {
        let wanted = request.headers[.waybillTimeout].flatMap { Int($0) }.map { Duration.milliseconds($0) }
        return min(wanted ?? self.configuration.timeout, self.configuration.timeout)
    }
}

extension HTTPField.Name {
    static let waybillTimeout = Self.known("Waybill-Timeout")
    /// The number of routed messages that led to the request in other processes.
    static let waybillHops = Self.known("Waybill-Hops")
    /// The return URL, to which the bus sends the value of the reply.
    static let waybillReturn = Self.known("Waybill-Return")
    static let lastEventID = Self.known("Last-Event-ID")
    /// The milliseconds after which a stream without events has a comment.
    static let waybillHeartbeat = Self.known("Waybill-Heartbeat")
    /// Prevents nginx from buffering a response.
    static let xAccelBuffering = Self.known("X-Accel-Buffering")

    package static func known(_ text: String) -> Self {
        guard let name = Self(text) else {
            preconditionFailure("internal error: `\(text)` is not the name of a header")
        }
        return name
    }
}
#endif

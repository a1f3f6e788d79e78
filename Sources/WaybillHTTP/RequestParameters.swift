#if HTTP
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// What an HTTP request says to the bus.
struct GatewayRequest: Sendable {
    let url: String
    private(set) var parameters: [String: any Sendable] = [:]
    /// A JSON body that is no object.
    private(set) var payload: (any Sendable)?

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - request: the request, whose body has been collected.
    ///   - path: the segments of its path behind that of the gateway, as they were sent.
    ///   - body: the body.
    /// - Throws: the problem with the request.
    init(_ request: Request, path: [Substring], body: ByteBuffer) throws(Problem) {
        guard let scheme = path.first, Address.isScheme(String(scheme)) else {
            throw Problem(.notFound, "the path begins with the scheme of a URL: /app/user/1 is app://user/1")
        }
        // As it was sent: what is encoded is decoded once, by the bus.
        let query = request.uri.query.map { "?\($0)" } ?? ""
        self.url = "\(scheme)://\(path.dropFirst().joined(separator: "/"))\(query)"
        if body.readableBytes > 0 { try self.read(body, request.headers[.contentType] ?? "") }
    }

    private mutating func read(_ body: ByteBuffer, _ contentType: String) throws(Problem) {
        let type = contentType.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        let bytes = Array(body.readableBytesView)
        if type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json") {
            do throws(JSONError) {
                try self.read(json: bytes)
            } catch {
                throw Problem(.badRequest, "the body is refused: \(error)")
            }
        } else if type == "application/x-www-form-urlencoded" {
            self.parameters = try Self.parameters(form: bytes)
        } else {
            throw Problem(.unsupportedMediaType, "a body is JSON or a form, by its Content-Type")
        }
    }

    private mutating func read(json bytes: [UInt8]) throws(JSONError) {
        let value = try JSONText(validating: bytes)
        if let parameters = value.parameters {
            self.parameters = parameters
        } else {
            self.payload = value
        }
    }

    /// The items of a form; a name that is repeated has an array of texts.
    static func parameters(form bytes: [UInt8]) throws(Problem) -> [String: any Sendable] {
        var texts: [String: [String]] = [:]
        for item in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = item.split(
                separator: UInt8(ascii: "="),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let name = try Self.text(parts[0])
            texts[name, default: []].append(parts.count == 2 ? try Self.text(parts[1]) : "")
        }
        return texts.mapValues { texts -> any Sendable in
            if texts.count == 1 { return texts[0] }
            return texts
        }
    }

    private static func text(_ part: ArraySlice<UInt8>) throws(Problem) -> String {
        var bytes: [UInt8] = []
        var index = part.startIndex
        while index < part.endIndex {
            let byte = part[index]
            index += 1
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = part[index...].prefix(2)
                guard digits.count == 2, let text = String(validating: digits, as: UTF8.self),
                    !text.contains("+"), !text.contains("-"), let byte = UInt8(text, radix: 16)
                else { throw Problem(.badRequest, "the form is not percent-encoded") }
                bytes.append(byte)
                index += 2
            default: bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(.badRequest, "the form is not UTF-8")
        }
        return text
    }
}

extension WaybillGateway {
    /// The request for the bus.
    func external(
        _ request: GatewayRequest,
        _ http: Request,
        _ context: some RequestContext
    ) -> ExternalRequest {
        var headers: [String: String] = [:]
        for field in http.headers where self.configuration.headers.contains(field.name.canonicalName) {
            headers[field.name.canonicalName] = field.value
        }
        let address = (context as? any RemoteAddressRequestContext)?.remoteAddress
        return ExternalRequest(
            url: request.url,
            parameters: request.parameters,
            headers: headers,
            deadline: .now + self.timeout(of: http),
            payload: request.payload,
            origin: MessageOrigin(transport: "http", peer: address?.ipAddress)
        )
    }

    private func timeout(of request: Request) -> Duration {
        let wanted = request.headers[.waybillTimeout].flatMap { Int($0) }.map { Duration.milliseconds($0) }
        return min(wanted ?? self.configuration.timeout, self.configuration.timeout)
    }
}

extension HTTPField.Name {
    static let waybillTimeout = Self.known("Waybill-Timeout")
    static let lastEventID = Self.known("Last-Event-ID")
    /// Keeps nginx from buffering a response.
    static let xAccelBuffering = Self.known("X-Accel-Buffering")

    private static func known(_ text: String) -> Self {
        guard let name = Self(text) else { preconditionFailure("`\(text)` is the name of a header") }
        return name
    }
}
#endif

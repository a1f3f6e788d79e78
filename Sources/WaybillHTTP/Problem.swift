#if HTTP
package import HTTPTypes
package import Hummingbird
internal import NIOCore
internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// A failure in the form that clients receive, as problem details (RFC 9457).
package struct Problem: Error {
    package let status: HTTPResponse.Status
    package let detail: String
    /// The name of the code, if the error is a `RoutingError`.
    var code: String?
    /// The exposed patterns that are similar to the URL.
    var suggestions: [String] = []
    /// The error that the module of the route has declared for its callers.
    private var declared: DeclaredError?
    /// The ID with which the failure is logged; nil if clients receive the reason.
    var id: String?
    private let allowed: String

    /// Creates a problem; `allowed` contains the methods that the URL allows, if the request has another
    /// method.
    package init(_ status: HTTPResponse.Status, _ detail: String, allowing allowed: String = "GET, POST") {
        self.status = status
        self.detail = detail
        self.allowed = allowed
    }

    /// Creates the problem for an error.
    ///
    /// The problem contains the reason only if the client can act on the reason.
    package init(_ error: any Error) {
        guard let error = error as? RoutingError else {
            self.init(.internalServerError, "the request failed")
            self.id = Self.newID()
            return
        }
        if let declared = DeclaredError(of: error) {
            self.init(Self.status(of: declared), declared.message)
            self.code = error.code.description
            self.declared = declared
            return
        }
        let (status, detail) = (Self.status(of: error), Self.detail(of: error))
        self.init(status, detail ?? error.message)
        self.code = error.code.description
        if detail != nil, status.kind == .serverError, error.code != .shutDown { self.id = Self.newID() }
    }

    /// Rejects a text of a client that has too many combining marks in a row.
    static func checkMarks(in text: String) throws(Problem) {
        guard CombiningMarks.areFew(in: text) else { throw Problem(.badRequest, CombiningMarks.excess) }
    }

    /// Returns the text that replaces the message of an error; nil when clients may receive the message.
    private static func detail(of error: RoutingError) -> String? {
        switch error.code {
        case .noRoute, .invalidURL, .missingParameter, .invalidParameter, .refused, .cancelled: nil
        case .mailboxFull: "too many messages wait for the handler: try again later"
        case .deadlineExceeded: "no reply arrived before the deadline"
        case .shutDown: "the server is shutting down"
        case .noHandler: "the handler no longer exists"
        case .unreachable: "the handler cannot be reached"
        case .deadlock, .hopLimitExceeded, .infiniteRecursion: "the request leads back to itself"
        default: "the handler failed"
        }
    }

    /// Returns the HTTP status for the code of an error.
    private static func status(of error: RoutingError) -> HTTPResponse.Status {
        switch error.code.httpStatus {
        case 400: .badRequest
        case 403: .forbidden
        case 404: .notFound
        case 429: .tooManyRequests
        case 499: HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request")
        case 502: .badGateway
        case 503: .serviceUnavailable
        case 504: .gatewayTimeout
        case 508: HTTPResponse.Status(code: 508, reasonPhrase: "Loop Detected")
        default: .internalServerError
        }
    }

    private static func status(of error: DeclaredError) -> HTTPResponse.Status {
        let known: [HTTPResponse.Status] = [
            .badRequest, .unauthorized, .forbidden, .notFound, .notAcceptable,
            .requestTimeout,
            .conflict, .gone, .preconditionFailed, .unprocessableContent, .preconditionRequired,
            .tooManyRequests, .unavailableForLegalReasons, .internalServerError, .notImplemented, .badGateway,
            .serviceUnavailable, .gatewayTimeout,
        ]
        let words = error.status < 500 ? "Client Error" : "Server Error"
        return known.first { $0.code == error.status }
            ?? HTTPResponse.Status(code: error.status, reasonPhrase: words)
    }

    private static func newID() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// Whether the request may succeed when it is sent again later.
    private var isTemporary: Bool { [429, 503].contains(self.status.code) }

    var json: [UInt8] {
        var members: [String: any Sendable] = [
            "type": "about:blank",
            "title": self.status.reasonPhrase,
            "status": self.status.code,
            "detail": self.detail,
        ]
        members["code"] = self.code
        if !self.suggestions.isEmpty { members["suggestions"] = self.suggestions }
        members["id"] = self.id
        members["error"] = self.declared?.json
        // Encoding texts and numbers never fails.
        return (try? JSONWriter.encoded(members)) ?? []
    }

    package var response: Response {
        var response = Response(status: self.status, json: self.json)
        response.headers[.contentType] = "application/problem+json"
        if self.isTemporary { response.headers[.retryAfter] = "1" }
        // A response with this status must name a way to authenticate (RFC 9110, section 15.5.2).
        if self.status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        if self.status == .methodNotAllowed { response.headers[.allow] = self.allowed }
        return response
    }
}

extension Response {
    /// Creates a response with a JSON body.
    package init(status: HTTPResponse.Status = .ok, json: [UInt8]) {
        self.init(
            status: status,
            headers: Self.jsonHeaders,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json))
        )
    }

    /// Creates a response with the JSON of a reply, which counts until the client has read it.
    init(json: [UInt8], _ unread: UnreadReplies, for client: String?) throws(Problem) {
        self.init(status: .ok, headers: Self.jsonHeaders, body: try unread.body(json, for: client))
    }

    private static let jsonHeaders: HTTPFields = [
        .contentType: "application/json", .cacheControl: "no-store",
    ]
}
#endif

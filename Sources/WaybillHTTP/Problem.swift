#if HTTP
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// A failure as clients see it (RFC 9457).
struct Problem: Error {
    let status: HTTPResponse.Status
    let detail: String
    /// The name of the code of a `RoutingError`.
    var code: String?
    /// What the log knows the failure by, if clients do not learn the reason.
    var id: String?

    init(_ status: HTTPResponse.Status, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    /// What a client learns of an error: the reason, if the client can do something about it.
    init(_ error: any Error) {
        guard let error = error as? RoutingError else {
            self.init(.internalServerError, "the request failed")
            self.id = Self.newID()
            return
        }
        let (status, detail) = Self.meaning(of: error)
        self.init(status, detail ?? error.message)
        self.code = error.code.description
        if detail != nil, status.kind == .serverError, error.code != .shutDown { self.id = Self.newID() }
    }

    /// The status of a code, and the sentence that stands for the error's own, if clients must not see that.
    private static func meaning(of error: RoutingError) -> (HTTPResponse.Status, String?) {
        switch error.code {
        case .noRoute: (.notFound, nil)
        case .invalidURL, .missingParameter, .invalidParameter: (.badRequest, nil)
        case .refused: (.forbidden, nil)
        case .mailboxFull: (.tooManyRequests, "too many messages wait")
        case .deadlineExceeded: (.gatewayTimeout, "no reply arrived before the deadline")
        case .shutDown: (.serviceUnavailable, "the server is shutting down")
        case .noHandler: (.serviceUnavailable, "its handler is not there")
        case .unreachable: (.badGateway, "its handler cannot be reached")
        case .cancelled: (HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request"), nil)
        case .deadlock, .hopLimitExceeded, .infiniteRecursion:
            (
                HTTPResponse.Status(code: 508, reasonPhrase: "Loop Detected"),
                "the request leads back to itself"
            )
        default: (.internalServerError, "the handler failed")
        }
    }

    private static func newID() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// Whether the same request may succeed after a while.
    private var isTemporary: Bool { [429, 503].contains(self.status.code) }

    /// The problem as JSON.
    var json: [UInt8] {
        var members: [String: any Sendable] = [
            "type": "about:blank",
            "title": self.status.reasonPhrase,
            "status": self.status.code,
            "detail": self.detail,
        ]
        members["code"] = self.code
        members["id"] = self.id
        // Text and numbers are always encoded.
        return (try? JSONWriter.encoded(members)) ?? []
    }

    var response: Response {
        var response = Response(status: self.status, json: self.json)
        response.headers[.contentType] = "application/problem+json"
        if self.isTemporary { response.headers[.retryAfter] = "1" }
        if self.status == .methodNotAllowed { response.headers[.allow] = "GET, POST" }
        return response
    }
}

extension Response {
    /// A response with a JSON body.
    init(status: HTTPResponse.Status = .ok, json: [UInt8]) {
        self.init(
            status: status,
            headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json))
        )
    }
}
#endif

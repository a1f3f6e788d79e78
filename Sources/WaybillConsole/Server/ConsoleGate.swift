#if HTTP
internal import HTTPTypes
internal import Hummingbird
internal import WaybillHTTP
internal import WaybillJSON

/// Decides which requests are permitted, by their host, their origin, and the token or the session cookie.
struct ConsoleGate: Sendable {
    private let token: String
    /// The value of the session cookie.
    ///
    /// The value is created when the program starts, and does not reveal the token.
    private let session = Self.newSecret()
    private let checks: WaybillGateway.Configuration

    private static let cookie = "waybill-console"

    init(_ configuration: WaybillConsole.Configuration) {
        self.token = configuration.token
        var checks = WaybillGateway.Configuration(logger: configuration.logger)
        checks.hosts = configuration.hosts
        self.checks = checks
    }

    /// Returns 128 random bits as hexadecimal text.
    static func newSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }

    /// Rejects a request for another server, and a request from a page of another server.
    ///
    /// If a page sends no referrer, a form on that page has the origin `null`. This origin is accepted when a
    /// user signs in, because a page of another server cannot sign in without the token.
    func check(_ request: Request, isForm: Bool = false) throws(Problem) {
        try self.checks.check(request, acceptsNoOrigin: isForm)
    }

    /// Returns whether a request has the session cookie.
    func admits(_ request: Request) -> Bool {
        request.headers[values: .cookie].flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }.contains {
            item in
            let item = item.drop { $0 == UInt8(ascii: " ") }
            guard item.starts(with: "\(Self.cookie)=".utf8) else { return false }
            return Self.isSame(item.dropFirst(Self.cookie.utf8.count + 1), self.session.utf8)
        }
    }

    /// Returns whether a text equals the token.
    func accepts(_ token: String) -> Bool { Self.isSame(token.utf8, self.token.utf8) }

    /// Rejects an action whose request does not come from a page of this server, or does not have the content
    /// type of JSON.
    func checkAct(_ request: Request) throws(Problem) {
        guard request.headers[.origin] != nil else {
            throw Problem(
                .forbidden,
                "the header `Origin` is missing: a request with an action must come from a page of this server"
            )
        }
        let type = request.headers[.contentType].map { CloudEvent.mediaType(of: $0) }
        guard type == "application/json" else {
            throw Problem(
                .unsupportedMediaType,
                "a request with an action must have the content type `application/json`"
            )
        }
    }

    /// Returns the response that sets the session cookie and redirects the browser to the page.
    func admission(below mount: String, page: String) -> Response {
        let cookie = "\(Self.cookie)=\(self.session); Path=\(mount); HttpOnly; SameSite=Strict"
        return Response(status: .seeOther, headers: [.location: page, .setCookie: cookie])
    }

    /// Returns whether two texts are equal.
    ///
    /// The time of the comparison does not depend on where the texts differ.
    private static func isSame(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
        let (left, right) = (Array(left), Array(right))
        guard left.count == right.count, !left.isEmpty else { return false }
        return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Adds the headers that protect the page.
    ///
    /// Because of these headers, the browser loads nothing from other servers, and stores nothing.
    static func protect(_ response: inout Response) {
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            + "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.cacheControl] = "no-store"
    }
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = Self.known("Referrer-Policy")
}
#endif

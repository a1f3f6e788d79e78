#if HTTP
internal import HTTPTypes
internal import Hummingbird
internal import WaybillHTTP
internal import WaybillJSON

/// Decides which requests are answered: host, origin, and the token or the cookie that a browser got for it.
struct ConsoleGate: Sendable {
    private let token: String
    /// The value of the cookie.
    ///
    /// It is new at each start of the program, and does not reveal the token.
    private let session = Self.newSecret()
    private let checks: WaybillGateway.Configuration

    private static let cookie = "waybill-console"

    init(_ configuration: WaybillConsole.Configuration) {
        self.token = configuration.token
        var checks = WaybillGateway.Configuration(logger: configuration.logger)
        checks.hosts = configuration.hosts
        self.checks = checks
    }

    /// 128 random bits as text.
    static func newSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }

    /// Refuses a request that is for another server, or comes from a page of another one.
    ///
    /// A form that a page posts which sends no referrer has the origin `null`; it is accepted for signing in,
    /// where a page of another server can do nothing without the token.
    func check(_ request: Request, isForm: Bool = false) throws(Problem) {
        try self.checks.check(request, acceptsNoOrigin: isForm)
    }

    /// Whether a request has the cookie.
    func admits(_ request: Request) -> Bool {
        request.headers[values: .cookie].flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }.contains {
            item in
            let item = item.drop { $0 == UInt8(ascii: " ") }
            guard item.starts(with: "\(Self.cookie)=".utf8) else { return false }
            return Self.isSame(item.dropFirst(Self.cookie.utf8.count + 1), self.session.utf8)
        }
    }

    /// Whether a text is the token.
    func accepts(_ token: String) -> Bool { Self.isSame(token.utf8, self.token.utf8) }

    /// Rejects an action, unless the request comes from a page of this server and its content type is JSON.
    func checkAct(_ request: Request) throws(Problem) {
        guard request.headers[.origin] != nil else {
            throw Problem(
                .forbidden,
                "a request that acts has to come from a page of this server: `Origin` is missing"
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

    /// The response that signs a browser in, and leads to the page.
    func admission(below mount: String, page: String) -> Response {
        let cookie = "\(Self.cookie)=\(self.session); Path=\(mount); HttpOnly; SameSite=Strict"
        return Response(status: .seeOther, headers: [.location: page, .setCookie: cookie])
    }

    /// Compares in a time that does not depend on where the texts differ.
    private static func isSame(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
        let (left, right) = (Array(left), Array(right))
        guard left.count == right.count, !left.isEmpty else { return false }
        return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Adds the headers that forbid the browser to load anything from elsewhere, and to store the response.
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

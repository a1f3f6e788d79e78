#if HTTP
internal import HTTPTypes
package import Hummingbird
internal import WaybillRouting

// A server on a developer's machine, or in a house, is reached by every page that a browser there shows: by
// its own name through DNS rebinding, or by a form that a page of another origin sends.
extension WaybillGateway.Configuration {
    /// Refuses a request that is for another server, or comes from a page of another origin.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - acceptsNoOrigin: whether `null` is accepted, the origin of a form on a page that sends no
    ///     referrer.
    /// - Throws: the reason.
    package func check(_ request: Request, acceptsNoOrigin: Bool = false) throws(Problem) {
        let authority = request.head.authority ?? ""
        if let hosts, !hosts.contains(Self.host(of: authority)) {
            let status = HTTPResponse.Status(code: 421, reasonPhrase: "Misdirected Request")
            throw Problem(status, "`\(authority.onShortLine)` is no host of this server")
        }
        guard let origin = request.headers[.origin], !self.isOwn(origin, authority) else { return }
        guard self.origins.contains(origin.lowercased()) || acceptsNoOrigin && origin == "null" else {
            throw Problem(.forbidden, "pages of `\(origin.onShortLine)` may not use this server")
        }
    }

    /// Whether a page is one of this server.
    private func isOwn(_ origin: String, _ authority: String) -> Bool {
        let parts = origin.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty else { return false }
        return parts[2] == authority.lowercased()
    }

    /// The host in `host:port`, in lower case and without a final dot.
    static func host(of authority: String) -> String {
        let bytes = authority.utf8.span
        var (end, isLower) = (bytes.count, true)
        for index in bytes.indices.reversed() {
            let byte = bytes[index]
            if byte == UInt8(ascii: "]") {
                end = index + 1
                break
            }
            if byte == UInt8(ascii: ":"), end == bytes.count { end = index }
        }
        if end > 0, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
        for index in 0..<end where bytes[index] > 0x7F || (0x41...0x5A).contains(bytes[index]) {
            isLower = false
        }
        let name = String(authority[..<authority.utf8.index(authority.startIndex, offsetBy: end)])
        // Nearly every host is: this is asked of each request.
        return isLower ? name : name.lowercased()
    }

    /// Says to a browser that a page of another origin may see the response.
    func allow(_ request: Request, _ response: inout Response) {
        guard !self.origins.isEmpty else { return }
        response.headers.append(HTTPField(name: .vary, value: "Origin"))
        guard let origin = request.headers[.origin], self.origins.contains(origin.lowercased()) else {
            return
        }
        response.headers[.accessControlAllowOrigin] = origin
    }
}

extension WaybillGateway {
    /// Answers what a browser asks before a page of another origin makes a request.
    func preflight(_ request: Request, _ path: [Substring]) throws(Problem) -> Response {
        guard request.headers[.origin] != nil, !self.configuration.origins.isEmpty else {
            throw self.methodNotAllowed(path)
        }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: "GET, POST",
                .accessControlAllowHeaders: "Content-Type, Last-Event-ID, Waybill-Timeout",
                .accessControlMaxAge: "600",
            ]
        )
    }
}
#endif

#if HTTP
internal import HTTPTypes
package import Hummingbird
internal import WaybillRouting

// Checks against requests of foreign web pages. Every page in a local browser can send requests to a server
// on a developer's machine or in a private network. The page may use a host name that resolves to the server
// (DNS rebinding), or send a form from another origin.
extension WaybillGateway.Configuration {
    /// Rejects a request that is addressed to another host, or that a page of another origin has made.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - acceptsNoOrigin: Whether to accept the origin `null`. A form has this origin if its page sends no
    ///     referrer.
    /// - Throws: The reason for the rejection.
    package func check(_ request: Request, acceptsNoOrigin: Bool = false) throws(Problem) {
        let authority = request.head.authority ?? ""
        if let hosts, Self.host(of: authority).map({ hosts.contains($0) }) != true {
            let status = HTTPResponse.Status(code: 421, reasonPhrase: "Misdirected Request")
            throw Problem(
                status,
                "`\(authority.onShortLine)` is not a host of this server: add it to `hosts` in the configuration"
            )
        }
        guard let origin = request.headers[.origin] else { return try self.checkFetch(request) }
        if self.isOwn(origin, authority) { return }
        guard self.allows(origin) || acceptsNoOrigin && origin.hasSameBytes(as: "null") else {
            throw Problem(
                .forbidden,
                "pages of `\(origin.onShortLine)` may not use this server; a proxy must pass on the header `Host`"
            )
        }
    }

    /// Rejects a request that a foreign page has made without an origin, for example as the source of an
    /// image.
    ///
    /// A browser sends no origin with most GET requests. A link to this server is accepted if a person has
    /// followed it, but not if a page has followed it by itself or shows this server in a frame.
    private func checkFetch(_ request: Request) throws(Problem) {
        guard ["cross-site", "same-site"].contains(request.headers[.secFetchSite]) else { return }
        let isFollowedLink =
            request.headers[.secFetchMode] == "navigate" && request.headers[.secFetchDest] == "document"
            && request.headers[.secFetchUser] == "?1"
        if isFollowedLink { return }
        throw Problem(.forbidden, "pages of other origins may not use this server")
    }

    /// Returns whether an origin is the origin of this server's own pages.
    private func isOwn(_ origin: String, _ authority: String) -> Bool {
        guard Self.host(of: authority) != nil else { return false }
        let authority = authority.lowercased()
        return ["http://", "https://"].contains { ($0 + authority).hasSameBytes(as: origin.lowercased()) }
    }

    /// Returns whether the configuration allows an origin.
    ///
    /// An origin that is not ASCII is not valid.
    private func allows(_ origin: String) -> Bool {
        origin.utf8.allSatisfy { $0 < 0x80 } && self.origins.contains(origin.lowercased())
    }

    /// Returns the host in `host` or `host:port`, in lower case and without a trailing dot.
    ///
    /// Returns nil for any other text, because programs interpret a text such as `localhost:80@evil.example`
    /// in different ways.
    static func host(of authority: String) -> String? {
        let bytes = authority.utf8.span
        var (end, isLower) = (bytes.count, true)
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                break
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): isLower = false
            case UInt8(ascii: "["):
                guard index == 0, let bracket = Self.endOfIPv6(bytes) else { return nil }
                return Self.isPort(bytes, from: bracket) ? Self.host(authority, bracket, isLower: false) : nil
            case UInt8(ascii: ":"):
                guard Self.isPort(bytes, from: index) else { return nil }
                end = index
                if end > 0, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
                return Self.host(authority, end, isLower: isLower)
            default: return nil
            }
        }
        if end > 0, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
        return Self.host(authority, end, isLower: isLower)
    }

    private static func host(_ authority: String, _ end: Int, isLower: Bool) -> String {
        let name = String(authority[..<authority.utf8.index(authority.startIndex, offsetBy: end)])
        // Most hosts are in lower case, so most requests do not need a converted copy.
        return isLower ? name : name.lowercased()
    }

    /// Returns the index after the closing bracket of an IPv6 address, or nil when a character is not valid.
    private static func endOfIPv6(_ bytes: Span<UInt8>) -> Int? {
        for index in 1..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "]"): return index + 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: ":"), UInt8(ascii: "."):
                break
            default: return nil
            }
        }
        return nil
    }

    /// Returns whether the remaining text is empty, or consists of a colon and digits.
    private static func isPort(_ bytes: Span<UInt8>, from start: Int) -> Bool {
        if start == bytes.count { return true }
        guard bytes[start] == UInt8(ascii: ":") else { return false }
        for index in (start + 1)..<bytes.count
        where !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) {
            return false
        }
        return true
    }

    /// Adds the headers with which a browser lets a page of another allowed origin read the response.
    func allow(_ request: Request, _ response: inout Response) {
        guard !self.origins.isEmpty else { return }
        response.headers.append(HTTPField(name: .vary, value: "Origin"))
        guard let origin = request.headers[.origin], self.allows(origin) else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = "Waybill-Heartbeat"
    }
}

extension HTTPField.Name {
    fileprivate static let secFetchSite = Self.known("Sec-Fetch-Site")
    fileprivate static let secFetchMode = Self.known("Sec-Fetch-Mode")
    fileprivate static let secFetchDest = Self.known("Sec-Fetch-Dest")
    fileprivate static let secFetchUser = Self.known("Sec-Fetch-User")
}

extension WaybillGateway {
    /// Returns the response to a preflight request, or nil for another request with the method `OPTIONS`.
    ///
    /// A browser sends a preflight request before a page of another origin may send a request.
    func preflight(_ request: Request) -> Response? {
        guard request.headers[.origin] != nil, !self.configuration.origins.isEmpty else { return nil }
        let known = ["Authorization", "Content-Type", "Last-Event-ID", "Waybill-Return", "Waybill-Timeout"]
        let headers = known + self.configuration.headers.sorted()
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: "GET, POST",
                .accessControlAllowHeaders: headers.joined(separator: ", "),
                .accessControlMaxAge: "600",
            ]
        )
    }
}
#endif

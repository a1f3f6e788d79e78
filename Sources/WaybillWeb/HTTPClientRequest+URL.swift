#if Web
internal import AsyncHTTPClient
internal import WaybillRouting

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension HTTPClientRequest {
    /// Creates a request to a server.
    ///
    /// - Parameters:
    ///   - server: The http or https URL of the request.
    ///   - url: The URL of the message, for errors.
    /// - Throws: `invalidURL` if the port is invalid.
    init(to server: String, for url: String) throws(RoutingError) {
        let server = Self.encoded(server)
        // The HTTP client (version 1.37) traps on an invalid port.
        if let port = URL(string: server)?.port, !(0...65_535).contains(port) {
            throw RoutingError(
                .invalidURL,
                url: url,
                message: "\(port) is not a port: ports are numbers from 0 to 65535"
            )
        }
        self.init(url: server)
    }

    /// Returns a URL without its fragment, in which the path and the query have only characters of a URI.
    ///
    /// The other characters are percent-encoded, and also each `%` that two hexadecimal digits do not follow.
    /// If one such character is left, Foundation encodes the `%` of all encoded characters in the same path
    /// or query a second time.
    private static func encoded(_ url: String) -> String {
        var result = String.UnicodeScalarView()
        var rest = url.unicodeScalars[...]
        var slashes = 0
        var isBehindHost = false
        while let scalar = rest.popFirst(), scalar != "#" {
            if scalar == "/" { slashes += 1 }
            isBehindHost = isBehindHost || slashes == 3 || scalar == "?"
            let digits = rest.prefix(2)
            let isEncoded =
                scalar == "%" && digits.count == 2 && digits.allSatisfy(\.properties.isASCIIHexDigit)
            if !isBehindHost || isEncoded || Self.isAllowed(scalar) {
                result.append(scalar)
            } else {
                result += Address.encode(String(scalar)).unicodeScalars
            }
        }
        return String(result)
    }

    /// Returns whether the path and the query of a URI may contain a character unencoded (RFC 3986).
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~", "!", "$", "&", "'", "(", ")", "*", "+", ",",
            ";", "=", ":", "@", "/", "?":
            true
        default: false
        }
    }
}
#endif

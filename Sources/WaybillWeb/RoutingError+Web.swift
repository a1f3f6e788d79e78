#if Web
internal import AsyncHTTPClient
internal import WaybillRouting

extension RoutingError {
    /// Returns the error that a caller receives for a failure of the HTTP client.
    static func web(_ error: any Error, url: String) -> any Error {
        switch error {
        case is RoutingError, is CancellationError: return error
        case let error as HTTPClientError: return self.web(error, url: url)
        default:
            // All other errors come from sockets, name servers and TLS.
            return Self(.unreachable, url: url, message: "the connection to the server failed", cause: error)
        }
    }

    private static func web(_ error: HTTPClientError, url: String) -> any Error {
        switch error {
        case .cancelled where Task.isCancelled: return CancellationError()
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath:
            return Self(.invalidURL, url: url, message: "this is not an http or https URL", cause: error)
        case .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout:
            return Self(
                .deadlineExceeded,
                url: url,
                message: "the server did not answer in time",
                cause: error
            )
        case .alreadyShutdown:
            return Self(.unreachable, url: url, message: "the HTTP client has been shut down", cause: error)
        case .cancelled, .connectTimeout, .remoteConnectionClosed, .tlsHandshakeTimeout,
            .socksHandshakeTimeout, .httpProxyHandshakeTimeout, .invalidProxyResponse,
            .proxyAuthenticationRequired, .uncleanShutdown:
            return Self(.unreachable, url: url, message: "the server cannot be reached", cause: error)
        default: return self.other(error, url: url)
        }
    }

    /// Returns the error for a code that contains values, which a program cannot match.
    private static func other(_ error: HTTPClientError, url: String) -> RoutingError {
        switch error.shortDescription {
        case "Unsupported scheme":
            Self(.invalidURL, url: url, message: "the URL of the server must begin with http or https")
        case "Invalid header field names", "Invalid header field values":
            // The error of the client would show the value, which may be the token.
            Self(
                .refused,
                url: url,
                message:
                    "HTTP cannot send a header or the token: remove line breaks and other control characters"
            )
        default:
            Self(
                .refused,
                url: url,
                message: "the HTTP client rejected the exchange: \(error.shortDescription)",
                cause: error
            )
        }
    }
}
#endif

internal import WaybillRouting

/// What the URL of a server says about the security of a connection to it.
struct ServerURL: Sendable, Equatable {
    let scheme: String
    let host: String

    /// Reads a URL, which may leave out its scheme; nil for what can be none.
    init?(_ text: String) {
        var rest = text[...]
        if let end = text.firstRange(of: "://") {
            self.scheme = text[..<end.lowerBound].lowercased()
            rest = text[end.upperBound...]
        } else {
            self.scheme = "nats"
        }
        guard ["nats", "tls"].contains(self.scheme) else { return nil }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            self.host = rest[rest.index(after: rest.startIndex)..<end].lowercased()
        } else {
            self.host = rest.prefix { $0 != ":" }.lowercased()
        }
        guard !self.host.isEmpty else { return nil }
    }

    /// Whether the server is on this machine.
    ///
    /// Only an address that can be nothing else counts: `127.example.com` is a name.
    var isLoopback: Bool {
        if self.host == "localhost" || self.host == "::1" { return true }
        let parts = self.host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    var isEncrypted: Bool { self.scheme == "tls" }

    /// Why a node may not connect to servers, if so.
    static func objection(to servers: [String], usesTLS: Bool, allowsPlaintext: Bool) -> RoutingError? {
        guard !servers.isEmpty else {
            return RoutingError(.refused, message: "a transport needs the URL of a server")
        }
        for text in servers {
            guard let server = ServerURL(text) else {
                return RoutingError(
                    .refused,
                    message: "a server's URL is nats://host:port or tls://host:port"
                )
            }
            guard server.isLoopback || server.isEncrypted || usesTLS || allowsPlaintext else {
                return RoutingError(
                    .refused,
                    message:
                        "the server \(server.host) is not on this machine, and the connection would not be "
                        + "encrypted: use tls://, or `allowsPlaintext`"
                )
            }
        }
        return nil
    }
}

internal import WaybillRouting

/// The parts of a server's URL that determine the security of a connection to the server.
struct ServerURL: Sendable, Equatable {
    let scheme: String
    let host: String
    /// The text before the host: a user with a password, or a token.
    let user: String?

    /// Creates a URL from a text, which may omit the scheme; returns nil when the URL is invalid.
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
        if let at = rest.lastIndex(of: "@") {
            self.user = String(rest[..<at])
            rest = rest[rest.index(after: at)...]
        } else {
            self.user = nil
        }
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
    /// The address must be unambiguous. For example, `127.example.com` is a host name.
    var isLoopback: Bool {
        if self.host == "localhost" || self.host == "::1" { return true }
        let parts = self.host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    var isEncrypted: Bool { self.scheme == "tls" }
}

/// The servers that a connection may use: the configured servers, and the servers that those have reported.
struct ServerList {
    private let told: [String]
    /// Whether every connection must be encrypted.
    let usesTLS: Bool
    private let allowsPlaintext: Bool
    private var discovered: [String] = []

    init(_ told: [String], usesTLS: Bool, allowsPlaintext: Bool) {
        self.told = told
        // If one server has the scheme `tls`, every connection must be encrypted.
        self.usesTLS = usesTLS || told.contains { ServerURL($0)?.isEncrypted == true }
        self.allowsPlaintext = allowsPlaintext
    }

    /// The URLs of all servers.
    var all: [String] { self.told + self.discovered.filter { !self.told.contains($0) } }

    /// Replaces the discovered servers with the servers that the latest connection has reported.
    ///
    /// Only servers that the rules for configured servers allow are kept. The user of the configured servers
    /// is also used for the discovered servers.
    mutating func setDiscovered(_ servers: [String]) {
        let user = self.told.lazy.compactMap { ServerURL($0)?.user }.first
        self.discovered = servers.filter { self.objection(to: $0) == nil }.map { server in
            user.map { server.replacing("://", with: "://\($0)@", maxReplacements: 1) } ?? server
        }
    }

    /// The reason to reject the configured servers, or nil when all of them are allowed.
    var objection: RoutingError? {
        guard !self.told.isEmpty else {
            return RoutingError(
                .refused,
                message: "the transport has no server: pass the URL of at least one server"
            )
        }
        return self.told.lazy.compactMap { self.objection(to: $0) }.first
    }

    private func objection(to text: String) -> RoutingError? {
        guard let server = ServerURL(text) else {
            return RoutingError(
                .refused,
                message: "the URL of a server must be nats://host:port or tls://host:port"
            )
        }
        if server.isLoopback || server.isEncrypted || self.usesTLS || self.allowsPlaintext { return nil }
        return RoutingError(
            .refused,
            message:
                "the server \(server.host) is not on this machine, and the connection to it would not be "
                + "encrypted: use tls://, or set `allowsPlaintext`"
        )
    }
}

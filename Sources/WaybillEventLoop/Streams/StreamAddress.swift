/// The address of a listener or of the peer of a connection.
///
/// Write `.tcp("127.0.0.1", port: 7000)`, `.tcp("::1", port: 7000)` or `.unix("/run/shop.sock")`. Listeners
/// and connections work in the same way with each kind of address.
@nonexhaustive
public enum StreamAddress: Hashable, Sendable {
    /// A TCP port of a host.
    ///
    /// The host is a name or an IP address of version 4 or 6, without brackets. If a listener binds port 0,
    /// the system assigns a free port, and ``StreamListener/address`` contains the port.
    case tcp(_ host: String, port: Int)

    /// A Unix socket at a path of the file system; the path has at most 107 bytes (103 on macOS).
    case unix(_ path: String)
}

extension StreamAddress: CustomStringConvertible {
    /// The address in the form used in logs: `127.0.0.1:7000`, `[::1]:7000` or `unix:/run/shop.sock`.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

/// Where a listener listens, or a connection leads.
///
/// Write `.tcp("127.0.0.1", port: 7000)`, `.tcp("::1", port: 7000)` or `.unix("/run/shop.sock")`. Everything
/// that takes one works in the same way for all of them.
@nonexhaustive
public enum StreamAddress: Hashable, Sendable {
    /// A TCP port of a host.
    ///
    /// The host is a name or an IP address of version 4 or 6, without brackets. A listener at port 0 gets a
    /// free port, which its ``StreamListener/address`` then has.
    case tcp(_ host: String, port: Int)

    /// A Unix socket at a path of the file system, at most 107 bytes long (103 on macOS).
    case unix(_ path: String)
}

extension StreamAddress: CustomStringConvertible {
    /// The address as logs show it: `127.0.0.1:7000`, `[::1]:7000` or `unix:/run/shop.sock`.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

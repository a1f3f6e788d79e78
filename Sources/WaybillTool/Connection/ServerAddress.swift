#if Tool
internal import ArgumentParser
internal import WaybillEventLoop

/// A server's address on the command line: `/run/shop.sock`, `unix:shop.sock`, `127.0.0.1:7000`,
/// `[::1]:7000`.
struct ServerAddress: ExpressibleByArgument {
    let value: StreamAddress

    init?(argument: String) {
        if argument.hasPrefix("unix:") {
            self.value = .unix(String(argument.dropFirst("unix:".count)))
        } else if !argument.hasPrefix("tcp:"), argument.contains("/") || !argument.contains(":") {
            self.value = .unix(argument)
        } else {
            let rest = argument.hasPrefix("tcp:") ? argument.dropFirst("tcp:".count) : argument[...]
            guard let colon = rest.lastIndex(of: ":"), let port = UInt16(rest[rest.index(after: colon)...])
            else { return nil }
            var host = rest[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = host.dropFirst().dropLast()
            } else if host.contains(":") {
                return nil
            }
            guard !host.isEmpty else { return nil }
            self.value = .tcp(String(host), port: Int(port))
        }
        if case .unix("") = self.value { return nil }
    }

    /// The address in the form that `--connect` accepts.
    var argument: String {
        if case .unix(let path) = self.value, path.contains("/") || !path.contains(":") { return path }
        return "\(self.value)"
    }
}
#endif

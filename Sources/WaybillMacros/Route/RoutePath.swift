#if Macros

internal import WaybillRouting

/// How the URL of a route is made of its module's and its own.
enum RoutePath {
    /// A URL without the slashes at its end; those that belong to a scheme stay.
    static func trimmed(_ url: String) -> String {
        var url = url[...]
        while url.hasSuffix("/"), !url.hasSuffix("://"), url.count > 1 { url = url.dropLast() }
        return String(url)
    }

    /// The pattern of a route: its path below the module's URL, or a URL of its own.
    static func pattern(_ path: String, below url: String) -> String {
        if self.isWhole(path) { return path }
        let path = path.drop { $0 == "/" }
        if path.isEmpty { return url }
        return url.hasSuffix("/") ? url + path : "\(url)/\(path)"
    }

    /// The path of a method that declares none, in which special characters are literal.
    static func path(ofMethod name: String) -> String { "/\(Address.encode(name))" }

    /// Whether a path begins with a scheme, and is no path then: `app://other/x`.
    private static func isWhole(_ path: String) -> Bool {
        guard let colon = path.firstIndex(of: ":"), path.first?.isLetter == true else { return false }
        let isScheme = path[..<colon].unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || "+-.0123456789".unicodeScalars.contains($0))
        }
        return isScheme && path[colon...].hasPrefix(":/")
    }
}

#endif

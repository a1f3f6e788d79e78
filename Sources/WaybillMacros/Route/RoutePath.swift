#if Macros

internal import WaybillRouting

/// The rules that combine the URL of a module and the path of a route.
enum RoutePath {
    /// Returns a URL without its trailing slashes, except for the slashes directly after a scheme.
    static func trimmed(_ url: String) -> String {
        var url = url[...]
        while url.hasSuffix("/"), !url.hasSuffix("://"), url.count > 1 { url = url.dropLast() }
        return String(url)
    }

    /// Returns a complete URL unchanged, or a path appended to the module's URL.
    static func pattern(_ path: String, below url: String) -> String {
        if self.isWhole(path) { return path }
        let path = path.drop { $0 == "/" }
        if path.isEmpty { return url }
        return url.hasSuffix("/") ? url + path : "\(url)/\(path)"
    }

    /// Returns the path for a method whose attribute contains no path.
    ///
    /// Special characters in the method's name are escaped, so that they have no special meaning in a
    /// pattern.
    static func path(ofMethod name: String) -> String { "/\(Address.encode(name))" }

    /// Returns whether a path begins with a scheme and is therefore a URL, such as `app://other/x`.
    private static func isWhole(_ path: String) -> Bool {
        guard let colon = path.firstIndex(of: ":"), path.first?.isLetter == true else { return false }
        let isScheme = path[..<colon].unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || "+-.0123456789".unicodeScalars.contains($0))
        }
        return isScheme && path[colon...].hasPrefix(":/")
    }
}

#endif

/// The routes of GitHub's REST API, and a URL for each.
public enum GitHubRoutes {
    /// Paths with placeholders: `/repos/:p1/:p2/events`.
    public static let paths: [String] = String(decoding: PackageResources.github_routes_txt, as: UTF8.self)
        .split(separator: "\n").map(String.init)

    /// The paths as patterns with a scheme: `app://repos/:p1/:p2/events`.
    public static let patterns: [String] = Self.paths.map { "app:/" + $0 }

    /// A path for each route, with values where the placeholders are.
    public static let requestPaths: [String] = Self.paths.map { path in
        path.split(separator: "/").map { $0.hasPrefix(":") ? Self.values[String($0)] ?? "value" : String($0) }
            .reduce(into: "") { $0 += "/" + $1 }
    }

    /// A URL for each route, with values where the placeholders are.
    public static let urls: [String] = Self.requestPaths.map { "app:/" + $0 }

    private static let values = [":p1": "octocat", ":p2": "hello-world", ":p3": "1347", ":p4": "readme"]
}

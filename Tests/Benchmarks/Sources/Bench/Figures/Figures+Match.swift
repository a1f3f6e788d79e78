import Measure
import Subjects
import WaybillRouting

extension Figures {
    /// Matching: the input is the text of a URL, and the output is the route with the ranges of its
    /// parameters.
    static func match() throws -> [Figure] {
        let github = try Self.table(GitHubRoutes.patterns)
        let fixed = ["app://user/repos", "app://gitignore/templates", "app://notifications"]
        let fixedPaths = ["/user/repos", "/gitignore/templates", "/notifications"]
        let query = fixed.map { $0 + "?sort=updated&page=2" }
        return [
            Figure(
                "match.github",
                must: .value(100),
                .ratio(1),
                goal: .value(45),
                .ratio(0.2),
                subject: Self.matching(github, GitHubRoutes.urls),
                peer: Peers.hummingbird(GitHubRoutes.paths, asking: GitHubRoutes.requestPaths)
            ),
            Figure(
                "match.github-trie",
                must: .ratio(1),
                goal: .ratio(0.2),
                subject: Self.matching(github, GitHubRoutes.urls),
                peer: Peers.hummingbirdTrie(GitHubRoutes.paths, asking: GitHubRoutes.requestPaths)
            ),
            Figure(
                "match.static",
                must: .value(60),
                goal: .value(30),
                subject: Self.matching(github, fixed),
                peer: Peers.hummingbirdTrie(GitHubRoutes.paths, asking: fixedPaths)
            ),
            Figure(
                "match.query",
                must: .value(60),
                goal: .value(30),
                subject: Self.matching(github, query),
                peer: Peers.hummingbirdTrie(GitHubRoutes.paths, asking: fixedPaths)
            ),
        ]
    }

    /// Figures of matching among very many routes, for a few URLs that stay in the cache and for all URLs.
    static func growth() throws -> [Figure] {
        let few = try Self.table((0..<10).map(ManyRoutes.pattern))
        let many = try Self.table((0..<100_000).map(ManyRoutes.pattern))
        let fewURLs = (0..<10).map(ManyRoutes.url)
        let someURLs = (0..<10).map { ManyRoutes.url($0 * 9_973) }
        let allURLs = (0..<100_000).map { ManyRoutes.url($0 * 61_803 % 100_000) }
        let among10 = Self.matching(few, fewURLs, "among 10 routes")
        return [
            Figure(
                "match.growth",
                must: .ratio(2),
                goal: .ratio(1.3),
                subject: Self.matching(many, someURLs),
                peer: among10
            ),
            Figure("match.growth-cold", subject: Self.matching(many, allURLs), peer: among10),
        ]
    }

    /// Figures of a URL that matches a hostile pattern except at its end.
    ///
    /// Each URL and pattern is twice as long as the previous one.
    static func hostile() throws -> [Figure] {
        let subjects = try [4, 8, 16, 32, 64].map { length in
            let pattern = "app://" + String(repeating: "**/a/", count: length / 2) + "end"
            let url = "app://" + Array(repeating: "a", count: length).joined(separator: "/") + "/other"
            let table = try Self.table([pattern])
            return (length, Self.missing(table, url, "\(length) segments"))
        }
        return subjects.indices.map { index in
            let (length, subject) = subjects[index]
            let name = "match.hostile-\(length)"
            // Twice the segments times twice the nodes. The shortest URLs end before the matcher begins to
            // remember positions.
            return length <= 8
                ? Figure(name, subject: subject)
                : Figure(name, must: .ratio(5), subject: subject, peer: subjects[index - 1].1)
        }
    }

    static func table(_ patterns: [String]) throws -> RouteTable<Int> {
        var table = RouteTable<Int>()
        for pattern in patterns { try table.insert(pattern, 1) }
        return table
    }

    private static func matching(
        _ table: RouteTable<Int>,
        _ urls: [String],
        _ name: String = "match"
    ) -> Subject {
        .plain(name) { count in
            try table.match(urls, times: count)
        }
    }

    private static func missing(_ table: RouteTable<Int>, _ url: String, _ name: String) -> Subject {
        .plain(name) { count in
            var misses = 0
            for _ in 0..<count where try table.match(url) == nil { misses += 1 }
            precondition(misses == count, "a URL was matched")
        }
    }
}

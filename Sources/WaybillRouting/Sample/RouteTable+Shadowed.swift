extension RouteTable {
    /// The routes that no URL leads to, since another one matches better whatever their values are, as far as examples
    /// show, each with the route that takes its URLs and one of them.
    package func shadowed() -> [(route: Route, by: Route, url: String)] {
        // The same examples each time: what is found once is found again.
        var generator = SeededGenerator(seed: 1)
        return self.routes.compactMap { route in
            var rival: (by: Route, url: String)?
            for _ in 0..<16 {
                let url = route.pattern.example(using: &generator)
                guard let match = try? self.match(url) else { continue }
                if match.route == route.id { return nil }
                rival = self.route(match.route).map { ($0, url) } ?? rival
            }
            return rival.map { (route, $0.by, $0.url) }
        }
    }
}

extension RoutePattern {
    /// A URL that the pattern matches, with made-up values of the right types; for tests and checks.
    ///
    /// - Parameter generator: where the values come from; a seeded one gives the same URL each time.
    /// - Returns: a URL. Another pattern of a table may match it better.
    public func example(using generator: inout some RandomNumberGenerator) -> String {
        let variant = self.variants.randomElement(using: &generator) ?? []
        var sampler = PatternSampler(generator: generator)
        let segments = variant.map { sampler.text(of: $0) }
        generator = sampler.generator
        let hasHost = self.rules.conventions.host == .isFirstSegment
        return self.scheme + (hasHost ? "://" : ":/") + segments.joined(separator: "/")
    }
}

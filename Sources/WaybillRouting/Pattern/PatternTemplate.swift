/// One form of a pattern's URLs as other languages write it: `app://user/{uid}`.
///
/// A pattern with optional groups has several. What `{name}` cannot say (`*`, `**`, globs) stands there as a
/// name too, and ``isExact`` says so.
package struct PatternTemplate: Sendable, Hashable {
    /// What stands in braces.
    package struct Parameter: Sendable, Hashable {
        /// The name in the braces.
        package let name: String
        /// The type as patterns spell it: `string`, `int`, `double`, `bool`, `uuid`, `path` or `regex`.
        package let type: String
        /// The regular expression that values match, if the pattern has one.
        package let expression: String?
        /// Whether handlers can read the value.
        package let isCaptured: Bool
    }

    package let scheme: String
    /// The segments, percent-encoded, with `{name}` for values.
    package private(set) var segments: [String] = []
    /// What stands in braces, in the order of the segments.
    package private(set) var parameters: [Parameter] = []
    /// Whether each `{name}` stands for one value of one segment.
    package private(set) var isExact = true

    fileprivate init(_ scheme: String, _ variant: [PatternSegment]) {
        self.scheme = scheme
        for segment in variant { self.append(segment) }
    }

    private mutating func append(_ segment: PatternSegment) {
        switch segment {
        case .literal(let text): self.segments.append(PercentCoding.encode(text))
        case .placeholder(let name): self.segments.append(self.braces(name, "string"))
        case .any:
            self.isExact = false
            self.segments.append(self.braces(nil, "string"))
        case .rest(let name):
            self.isExact = false
            self.segments.append(self.braces(name == "**" ? nil : name, "path"))
        case .compound(let pieces):
            self.segments.append(
                pieces.reduce(into: "") { text, piece in
                    switch piece {
                    case .literal(let literal): text += PercentCoding.encode(literal)
                    case .value(let name, let constraint):
                        if name == nil { self.isExact = false }
                        var expression: String?
                        if case .regex(let regex) = constraint { expression = regex.source }
                        text += self.braces(name, constraint.typeName, expression)
                    }
                }
            )
        }
    }

    /// A value in braces; one without a name is `any`, `any2`, and so on.
    private mutating func braces(_ name: String?, _ type: String, _ expression: String? = nil) -> String {
        let taken = Set(self.parameters.map(\.name))
        var unique = name ?? "any"
        var number = 1
        while taken.contains(unique) {
            number += 1
            unique = "\(name ?? "any")\(number)"
        }
        self.parameters.append(
            Parameter(name: unique, type: type, expression: expression, isCaptured: unique == name)
        )
        return "{\(unique)}"
    }
}

extension RoutePattern {
    /// The forms of the pattern's URLs, the longest first.
    package var templates: [PatternTemplate] { self.variants.map { PatternTemplate(self.scheme, $0) } }
}

/// One form of a pattern's URLs in the syntax of other languages: `app://user/{uid}`.
///
/// A pattern with optional groups has several forms. `{name}` cannot express `*`, `**` and globs. For these
/// wildcards, the template contains a name as a replacement, and ``isExact`` is false.
package struct PatternTemplate: Sendable, Hashable {
    /// A name in braces, with the type of its value.
    package struct Parameter: Sendable, Hashable {
        /// The name in the braces.
        package let name: String
        /// The name of the type, as patterns spell it: `string`, `int`, `double`, `bool`, `uuid`, `path` or
        /// `regex`.
        package let type: String
        /// The regular expression that values match; nil when the pattern contains no regular expression for
        /// the value.
        package let expression: String?
        /// Whether handlers can read the value.
        package let isCaptured: Bool
    }

    package let scheme: String
    /// The segments, percent-encoded, with `{name}` for values.
    package private(set) var segments: [String] = []
    /// The parameters in braces, in the order of the segments.
    package private(set) var parameters: [Parameter] = []
    /// Whether each `{name}` represents exactly one value within one segment.
    package private(set) var isExact = true

    fileprivate init(_ scheme: String, _ variant: [PatternSegment]) {
        self.scheme = scheme
        for segment in variant { self.append(segment) }
    }

    private mutating func append(_ segment: PatternSegment) {
        switch segment {
        case .literal(let text): self.segments.append(PercentCoding.encode(text))
        case .placeholder(let name): self.segments.append(self.braces(name, type: "string"))
        case .any:
            self.isExact = false
            self.segments.append(self.braces(nil, type: "string"))
        case .rest(let name):
            self.isExact = false
            self.segments.append(self.braces(name == "**" ? nil : name, type: "path"))
        case .compound(let pieces):
            self.segments.append(
                pieces.reduce(into: "") { text, piece in
                    switch piece {
                    case .literal(let literal): text += PercentCoding.encode(literal)
                    case .value(let name, let constraint):
                        if name == nil { self.isExact = false }
                        var expression: String?
                        if case .regex(let regex) = constraint { expression = regex.source }
                        text += self.braces(name, type: constraint.typeName, expression: expression)
                    }
                }
            )
        }
    }

    /// Adds a parameter, and returns its name in braces.
    ///
    /// Values without a name are called `any`, `any2`, and so on.
    private mutating func braces(_ name: String?, type: String, expression: String? = nil) -> String {
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
    /// The templates of the pattern's URLs, the longest first.
    package var templates: [PatternTemplate] { self.variants.map { PatternTemplate(self.scheme, $0) } }
}

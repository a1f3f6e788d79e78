/// The pattern of a route: literal segments, placeholders, types and wildcards.
///
/// `Docs/Routing.md` shows every form with an example.
public struct RoutePattern: Sendable {
    /// A named parameter of a pattern.
    public struct Parameter: Sendable, Hashable {
        /// The name under which handlers read the value.
        public let name: String
        /// The name of the type, as patterns spell it: `string`, `int`, `double`, `bool`, `uuid`, `path` or
        /// `regex`.
        public let type: String
    }

    /// The original text of the pattern.
    public let text: String
    /// The scheme in the form that tables compare.
    ///
    /// It is the default scheme when the pattern has no scheme.
    public let scheme: String
    /// The segment sequences that the pattern matches, the longest first.
    ///
    /// A pattern with optional groups has several sequences.
    let variants: [[PatternSegment]]
    /// The text of each variant, without the scheme; empty when the pattern has only one variant.
    private let alternatives: [String]
    let rules: RoutingRules

    /// Creates a pattern by parsing its text.
    ///
    /// - Parameters:
    ///   - text: The pattern, with or without a scheme.
    ///   - conventions: The rules for the forms of a pattern and for their meaning.
    ///   - defaultScheme: The scheme of a pattern that has no scheme.
    ///   - limits: The upper bounds on the pattern.
    /// - Throws: ``RoutingError/Code/invalidPattern`` with a message that describes the problem.
    public init(
        _ text: String,
        conventions: RoutingConventions = .waybill,
        defaultScheme: String = "app",
        limits: RoutingLimits = .default
    ) throws(RoutingError) {
        try self.init(text, .shared(conventions: conventions, defaultScheme: defaultScheme, limits: limits))
    }

    /// Creates a pattern by parsing its text.
    ///
    /// The parser takes the regular expressions in `known` from there and does not build them again.
    init(
        _ text: String,
        _ rules: RoutingRules,
        from source: PatternSource = .code,
        known: [ExactText: RegularExpression] = [:]
    ) throws(RoutingError) {
        let result = try PatternParser(text: text, rules: rules, source: source, known: known).parse()
        self.text = text
        self.rules = rules
        self.scheme = result.scheme
        self.variants = result.variants
        self.alternatives = result.alternatives
    }

    /// Returns the pattern under other rules, with the same scheme.
    ///
    /// The other rules have another default scheme or another setting of `fallsBack`. If these rules would
    /// change the pattern's scheme, the current scheme is added to the text.
    func read(by rules: RoutingRules) -> Self {
        let read = try? Self(self.text, rules, from: .table)
        if let read, read.scheme == self.scheme { return read }
        return (try? Self("\(self.scheme):\(self.text)", rules, from: .table)) ?? self
    }

    /// The parameters in the order of the pattern, including the parameters of optional groups.
    public var parameters: [Parameter] {
        var seen: [Parameter] = []
        for parameter in self.variants.joined().flatMap(\.parameters)
        where !seen.contains(where: { $0.name == parameter.name }) {
            seen.append(parameter)
        }
        return seen
    }
}

extension RoutePattern {
    /// Patterns without optional groups that together match the same addresses.
    ///
    /// The longest pattern is first.
    ///
    /// If the pattern has no optional group, the only element is the pattern itself.
    package var expansions: [RoutePattern] {
        let expansions = self.alternatives.compactMap { try? Self("\(self.scheme):\($0)", self.rules) }
        // Conventions that ignore the host could interpret a part of the path as a host, so compare the
        // variants.
        return expansions.map(\.variants) == self.variants.map { [$0] } ? expansions : [self]
    }

    /// Returns whether the literal text of the pattern contains a character of ASCII.
    package func hasLiteral(_ character: Unicode.Scalar) -> Bool {
        self.variants.joined().contains { segment in
            switch segment {
            case .literal(let text): text.contains(UInt8(ascii: character))
            case .compound(let pieces):
                pieces.contains { piece in
                    if case .literal(let text) = piece {
                        text.contains(UInt8(ascii: character))
                    } else {
                        false
                    }
                }
            case .placeholder, .any, .rest: false
            }
        }
    }

    /// The number of literal segments of the longest variant.
    package var literalCount: Int { self.variants.first?.count { $0.isLiteral } ?? 0 }
}

extension RoutePattern: Hashable {
    /// Compares the addresses that the patterns match and the names of their values, but not their spelling.
    public static func == (left: Self, right: Self) -> Bool {
        left.scheme == right.scheme && left.variants == right.variants
    }

    /// Hashes the scheme and the segments.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.scheme)
        hasher.combine(self.variants)
    }

    /// The variants, with literal text in lower case if the conventions ignore the case.
    var foldedVariants: [[PatternSegment]] {
        self.rules.foldsCase ? self.variants.map { $0.map(\.folded) } : self.variants
    }
}

extension RoutePattern: CustomStringConvertible {
    /// The original text of the pattern.
    public var description: String { self.text }
}

enum PatternSegment: Sendable, Hashable {
    /// The decoded text that a decoded segment of a URL must equal.
    case literal([UInt8])
    /// A typed value, a wildcard, or several adjacent pieces.
    case compound([PatternPiece])
    /// Any single segment, captured as a parameter.
    case placeholder(String)
    /// Any single segment, without a capture.
    case any
    /// A catch-all segment: one or more segments of a URL, captured as one parameter.
    case rest(String)
}

/// A piece of a compound segment.
enum PatternPiece: Sendable, Hashable {
    /// Decoded text.
    case literal([UInt8])
    /// A value. A value with a name is captured as a parameter.
    case value(name: String?, PatternConstraint)
}

extension PatternSegment {
    /// The segment with literal text in lower case.
    fileprivate var folded: Self {
        switch self {
        case .literal(let text): .literal(text.map(ASCII.lowercased))
        case .compound(let pieces):
            .compound(
                pieces.map { piece in
                    if case .literal(let text) = piece { .literal(text.map(ASCII.lowercased)) } else { piece }
                }
            )
        case .placeholder, .any, .rest: self
        }
    }

    /// The parameters that the segment captures, in the order of its text.
    var parameters: [RoutePattern.Parameter] {
        switch self {
        case .literal, .any: []
        case .placeholder(let name): [.init(name: name, type: "string")]
        case .rest(let name): [.init(name: name, type: "path")]
        case .compound(let pieces):
            pieces.compactMap { piece in
                guard case .value(let name?, let constraint) = piece else { return nil }
                return .init(name: name, type: constraint.typeName)
            }
        }
    }

    var parameterCount: Int {
        switch self {
        case .literal, .any: 0
        case .placeholder, .rest: 1
        case .compound(let pieces):
            pieces.count { if case .value(.some, _) = $0 { true } else { false } }
        }
    }

    var isLiteral: Bool {
        if case .literal = self { true } else { false }
    }
}

/// The pattern of a route: literal segments, placeholders, types and wildcards.
///
/// `Docs/Routing.md` shows every form with an example.
public struct RoutePattern: Sendable {
    /// A parameter that a pattern names.
    public struct Parameter: Sendable, Hashable {
        /// The name under which handlers read the value.
        public let name: String
        /// The type as patterns spell it: `string`, `int`, `double`, `bool`, `uuid`, `path` or `regex`.
        public let type: String
    }

    /// The pattern as it was written.
    public let text: String
    /// The scheme, as tables compare it; the default scheme when the pattern names none.
    public let scheme: String
    /// The segment sequences that the pattern matches, the longest first; more than one where it has optional
    /// groups.
    let variants: [[PatternSegment]]
    /// The text of each variant, without the scheme, when optional groups give several; else empty.
    private let alternatives: [String]
    let rules: RoutingRules

    /// Parses a pattern.
    ///
    /// - Parameters:
    ///   - text: the pattern, with or without a scheme.
    ///   - conventions: the forms that it may have, and their meaning.
    ///   - defaultScheme: the scheme of a pattern that names none.
    ///   - limits: how large it may be.
    /// - Throws: ``RoutingError/Code/invalidPattern`` with a message that says what is wrong.
    public init(
        _ text: String,
        conventions: RoutingConventions = .waybill,
        defaultScheme: String = "app",
        limits: RoutingLimits = .default
    ) throws(RoutingError) {
        try self.init(text, .shared(conventions: conventions, defaultScheme: defaultScheme, limits: limits))
    }

    init(_ text: String, _ rules: RoutingRules, from source: PatternSource = .code) throws(RoutingError) {
        let result = try PatternParser(text: text, rules: rules, source: source).parse()
        self.text = text
        self.rules = rules
        self.scheme = result.scheme
        self.variants = result.variants
        self.alternatives = result.alternatives
    }

    /// The same pattern by rules with another default scheme, or another fallback: if it names no scheme,
    /// that of its own rules is written down.
    func read(by rules: RoutingRules) -> Self {
        let read = try? Self(self.text, rules)
        if let read, read.scheme == self.scheme { return read }
        return (try? Self("\(self.scheme):\(self.text)", rules)) ?? self
    }

    /// The parameters in the order of the pattern, including those of optional groups.
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
    /// The same addresses as patterns without optional groups, the longest first.
    ///
    /// The pattern itself when it has no optional group.
    package var expansions: [RoutePattern] {
        let expansions = self.alternatives.compactMap { try? Self("\(self.scheme):\($0)", self.rules) }
        // Conventions that leave the host out could read a part of the path as a host.
        return expansions.map(\.variants) == self.variants.map { [$0] } ? expansions : [self]
    }

    /// The number of literal segments of the longest variant.
    package var literalCount: Int { self.variants.first?.count { $0.isLiteral } ?? 0 }
}

extension RoutePattern: Hashable {
    /// Compares what the patterns match and what they name, not their spelling.
    public static func == (left: Self, right: Self) -> Bool {
        left.scheme == right.scheme && left.variants == right.variants
    }

    /// Hashes scheme and segments.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.scheme)
        hasher.combine(self.variants)
    }
}

extension RoutePattern: CustomStringConvertible {
    /// The pattern as it was written.
    public var description: String { self.text }
}

/// One segment of a pattern.
enum PatternSegment: Sendable, Hashable {
    /// Text, decoded, that must be equal.
    case literal([UInt8])
    /// Typed values, wildcards, or several pieces side by side.
    case compound([PatternPiece])
    /// Any one segment, captured as a parameter.
    case placeholder(String)
    /// Any one segment.
    case any
    /// One or more segments, captured as one parameter.
    case rest(String)
}

/// A piece of a compound segment.
enum PatternPiece: Sendable, Hashable {
    /// Text, decoded.
    case literal([UInt8])
    /// A value; captured if it has a name.
    case value(name: String?, PatternConstraint)
}

extension PatternSegment {
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

    /// The number of ``parameters``.
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

/// What a registration matches: literal segments, placeholders, types and wildcards.
///
/// `Docs/Routing.md` shows every form with an example.
public struct RoutePattern: Sendable {
    /// A parameter that a pattern names.
    public struct Parameter: Sendable, Hashable {
        /// The name under which handlers find the value.
        public let name: String
        /// The type as patterns spell it: `string`, `int`, `double`, `bool`, `uuid`, `path` or `regex`.
        public let type: String
    }

    /// The pattern as it was written.
    public let text: String
    /// The scheme, as tables compare it; the default scheme when the pattern names none.
    public let scheme: String
    /// What the pattern matches: one way, or several where it has optional groups, the longest first.
    let variants: [[PatternSegment]]
    let rules: RoutingRules

    /// Reads a pattern.
    ///
    /// - Parameters:
    ///   - text: the pattern, with or without a scheme.
    ///   - conventions: which forms it may have and what they mean.
    ///   - defaultScheme: the scheme of a pattern that names none.
    ///   - limits: how large it may be.
    /// - Throws: ``RoutingError/Code/invalidPattern`` with a sentence that says what is wrong.
    public init(
        _ text: String,
        conventions: RoutingConventions = .waybill,
        defaultScheme: String = "app",
        limits: RoutingLimits = .default
    ) throws(RoutingError) {
        try self.init(text, .shared(conventions: conventions, defaultScheme: defaultScheme, limits: limits))
    }

    init(_ text: String, _ rules: RoutingRules) throws(RoutingError) {
        let result = try PatternParser(text: text, rules: rules).parse()
        self.text = text
        self.rules = rules
        self.scheme = result.scheme
        self.variants = result.variants
    }

    /// The parameters in the order of the pattern; those of optional groups are among them.
    public var parameters: [Parameter] {
        var seen: [Parameter] = []
        for parameter in self.variants.joined().flatMap(\.parameters)
        where !seen.contains(where: { $0.name == parameter.name }) {
            seen.append(parameter)
        }
        return seen
    }
}

extension RoutePattern: Hashable {
    /// Whether two patterns match the same addresses and give their values the same names.
    public static func == (left: Self, right: Self) -> Bool {
        left.scheme == right.scheme && left.variants == right.variants
    }

    /// Hashes what patterns are compared by.
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
    /// Text, decoded, that has to be there as it is.
    case literal([UInt8])
    /// A value of its own kind, or several, or text and values side by side.
    case mixed([PatternPiece])
    /// Any one segment, which becomes a parameter.
    case placeholder(String)
    /// Any one segment.
    case any
    /// One or more segments, which become a parameter.
    case rest(String)
}

/// A part of a segment.
enum PatternPiece: Sendable, Hashable {
    /// Text, decoded.
    case literal([UInt8])
    /// A value; one without a name is matched and forgotten.
    case value(name: String?, PatternConstraint)
}

extension PatternSegment {
    /// What the segment captures, in the order of its text.
    var parameters: [RoutePattern.Parameter] {
        switch self {
        case .literal, .any: []
        case .placeholder(let name): [.init(name: name, type: "string")]
        case .rest(let name): [.init(name: name, type: "path")]
        case .mixed(let pieces):
            pieces.compactMap { piece in
                guard case .value(let name?, let constraint) = piece else { return nil }
                return .init(name: name, type: constraint.typeName)
            }
        }
    }

    var isLiteral: Bool {
        if case .literal = self { true } else { false }
    }
}

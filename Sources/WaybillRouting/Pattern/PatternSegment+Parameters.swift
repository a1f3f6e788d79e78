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

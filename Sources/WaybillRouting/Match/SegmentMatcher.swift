/// A segment that is neither literal nor a plain placeholder, ready to be matched, whatever its names are.
struct SegmentMatcher: Sendable {
    /// A piece without its name.
    enum Piece: Sendable {
        case literal([UInt8])
        case value(PatternConstraint, isCaptured: Bool)
    }

    /// How the segment is matched.
    enum Kind: Sendable {
        /// One value that is the whole segment.
        case whole(PatternConstraint, isCaptured: Bool)
        /// Text and values that may be anything.
        case glob
        /// Text and values of which some are constrained.
        case mixed
    }

    let pieces: [Piece]
    let kind: Kind
    /// The same for all segments that match the same texts with the same specificity.
    let shape: String
    private let literalLength: Int
    private let isConstrained: Bool

    init(_ pieces: [PatternPiece], folding: Bool) {
        var shape = ""
        var length = 0
        var isConstrained = false
        self.pieces = pieces.map { piece in
            switch piece {
            case .literal(let text):
                // What could be taken for the sign of a value is told apart from it.
                shape += PercentCoding.encode(text)
                length += text.count
                return .literal(folding ? text.map(ASCII.lowercased) : text)
            case .value(let name, let constraint):
                shape += name == nil ? "*" : constraint.shape
                isConstrained = isConstrained || constraint != .none
                return .value(constraint, isCaptured: name != nil)
            }
        }
        self.shape = shape
        self.literalLength = length
        self.isConstrained = isConstrained
        if self.pieces.count == 1, case .value(let constraint, let isCaptured) = self.pieces[0] {
            self.kind = .whole(constraint, isCaptured: isCaptured)
        } else {
            self.kind = isConstrained ? .mixed : .glob
        }
    }

    /// Whether this one is tried before another: more text first, then what is constrained, then by its own text.
    func precedes(_ other: Self) -> Bool {
        if self.literalLength != other.literalLength { return self.literalLength > other.literalLength }
        if self.isConstrained != other.isConstrained { return self.isConstrained }
        return self.shape.utf8.lexicographicallyPrecedes(other.shape.utf8)
    }
}

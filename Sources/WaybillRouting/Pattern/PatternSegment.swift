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

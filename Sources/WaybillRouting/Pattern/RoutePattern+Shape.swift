/// A segment of a pattern without the names of its values.
///
/// Other systems use the shape as a part of an address.
package enum SegmentShape: Sendable, Hashable {
    /// The decoded text that a decoded segment of a URL must equal.
    case literal(String)
    /// Any single segment of a kind.
    ///
    /// The associated text is the text of the placeholder without its name. A wildcard (`*`) and a
    /// placeholder without a type have the same text.
    case value(String)
    /// One or more segments.
    case rest
}

extension RoutePattern {
    /// Whether the conventions ignore the case of literal segments.
    package var ignoresCase: Bool { self.rules.foldsCase }

    /// The shapes of the segment sequences that the pattern matches.
    ///
    /// The longest sequence is first.
    package var shapes: [[SegmentShape]] { self.variants.map { $0.map(\.shape) } }
}

extension PatternSegment {
    fileprivate var shape: SegmentShape {
        switch self {
        case .literal(let bytes): .literal(String(decoding: bytes, as: UTF8.self))
        case .placeholder, .any: .value(":")
        case .rest: .rest
        case .compound(let pieces): .value(pieces.map(\.shape).joined())
        }
    }
}

extension PatternPiece {
    fileprivate var shape: String {
        switch self {
        // The encoding distinguishes literal text from the characters that represent values.
        case .literal(let bytes): PercentCoding.encode(bytes)
        case .value(_, let constraint): constraint.shape
        }
    }
}

extension RegexNode {
    /// The expression without its anchors, or nil when it can match nothing because of them.
    ///
    /// A value is always matched from its beginning to its end, so an anchor either says what holds anyway or makes
    /// its alternative impossible.
    func withoutAnchors() -> RegexNode? { self.strip(atStart: true, atEnd: true) }

    private func strip(atStart: Bool, atEnd: Bool) -> RegexNode? {
        switch self {
        case .empty, .set: return self
        case .start: return atStart ? .empty : nil
        case .end: return atEnd ? .empty : nil
        case .choice(let choices):
            let left = choices.compactMap { $0.strip(atStart: atStart, atEnd: atEnd) }
            return left.isEmpty ? nil : .choice(left)
        case .repetition(let node, let from, let to):
            if let stripped = node.strip(atStart: false, atEnd: false) {
                return .repetition(stripped, from: from, to: to)
            }
            guard from <= 1 else { return nil }
            guard atStart || atEnd else { return from == 0 ? .empty : nil }
            guard let once = node.strip(atStart: atStart, atEnd: atEnd) else {
                return from == 0 ? .empty : nil
            }
            return from == 0 ? .optional(once) : once
        case .sequence(let parts):
            // What takes no characters may stand between an anchor and the edge.
            var stripped: [RegexNode] = []
            for (index, part) in parts.enumerated() {
                let isFirst = atStart && parts[..<index].allSatisfy(\.isEmptyText)
                let isLast = atEnd && parts[(index + 1)...].allSatisfy(\.isEmptyText)
                guard let part = part.strip(atStart: isFirst, atEnd: isLast) else { return nil }
                stripped.append(part)
            }
            return .sequence(stripped)
        }
    }

    /// Whether nothing but the empty text can match.
    private var isEmptyText: Bool {
        switch self {
        case .empty, .start, .end: true
        case .set: false
        case .choice(let parts), .sequence(let parts): parts.allSatisfy(\.isEmptyText)
        case .repetition(let node, _, let to): to == 0 || node.isEmptyText
        }
    }
}

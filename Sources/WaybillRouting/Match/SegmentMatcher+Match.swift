extension SegmentMatcher {
    /// Whether a segment matches; what it captures, the walk keeps.
    func matches(_ text: Span<UInt8>, _ range: Range<Int>, _ walk: inout some Walk & ~Copyable) -> Bool {
        switch self.kind {
        case .whole(let constraint, let isCaptured):
            guard constraint.allows(text, range) else { return false }
            if isCaptured { walk.capture(URLRange(range)) }
            return true
        case .glob: return self.matchesGlob(text, range, &walk)
        case .mixed: return self.matchesMixed(text, range, &walk)
        }
    }

    /// Takes the first place where each text is found; taking a later one could not help what follows.
    private func matchesGlob(
        _ text: Span<UInt8>,
        _ range: Range<Int>,
        _ walk: inout some Walk & ~Copyable
    ) -> Bool {
        let before = walk.captured
        var index = range.lowerBound
        var piece = 0
        while piece < self.pieces.count {
            switch self.pieces[piece] {
            case .literal(let literal):
                guard Self.isThere(literal, text, index, range.upperBound) else { return false }
                index += literal.count
                piece += 1
            case .value(_, let isCaptured):
                guard index < range.upperBound,
                    let end = self.end(ofValue: piece, text, index, range.upperBound)
                else {
                    walk.forgetCaptures(behind: before)
                    return false
                }
                if isCaptured { walk.capture(URLRange(index..<end)) }
                index = end
                piece += 1
            }
        }
        if index == range.upperBound { return true }
        walk.forgetCaptures(behind: before)
        return false
    }

    /// Where a value ends that begins at a place.
    private func end(ofValue piece: Int, _ text: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
        guard piece + 1 < self.pieces.count else { return end }
        var next = start + 1
        while next < end, UTF8Decoder.isContinuation(text[next]) { next += 1 }
        guard case .literal(let literal) = self.pieces[piece + 1] else { return next }
        if piece + 2 == self.pieces.count {
            let place = end - literal.count
            return place >= next && Self.isThere(literal, text, place, end) ? place : nil
        }
        while next + literal.count <= end {
            if Self.isThere(literal, text, next, end) { return next }
            next += 1
        }
        return nil
    }

    static func isThere(_ literal: [UInt8], _ text: Span<UInt8>, _ index: Int, _ end: Int) -> Bool {
        guard index + literal.count <= end else { return false }
        for offset in literal.indices where text[index + offset] != literal[offset] { return false }
        return true
    }
}

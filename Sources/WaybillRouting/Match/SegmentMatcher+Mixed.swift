extension SegmentMatcher {
    /// Matches several constrained values side by side, each as short as it can be, in linear time.
    ///
    /// Going backwards first finds out from which places the rest can still match; going forwards, each value then
    /// ends at the first place that is one of those.
    func matchesMixed(_ text: Span<UInt8>, _ range: Range<Int>, _ walk: inout some Walk & ~Copyable) -> Bool {
        let count = range.count
        var reachable = [[Bool]](repeating: [], count: self.pieces.count + 1)
        reachable[self.pieces.count] = (0...count).map { $0 == count }
        for index in self.pieces.indices.reversed() {
            reachable[index] = self.starts(
                of: self.pieces[index],
                text,
                range,
                endingAt: reachable[index + 1]
            )
        }
        guard reachable[0][0] else { return false }
        var start = 0
        for (index, piece) in self.pieces.enumerated() {
            switch piece {
            case .literal(let literal): start += literal.count
            case .value(let constraint, let isCaptured):
                let allowed = reachable[index + 1]
                let base = range.lowerBound
                let end: Int?
                if let automaton = constraint.automaton {
                    end = automaton.shortestEnd(text, base + start..<range.upperBound) { allowed[$0 - base] }
                        .map { $0 - base }
                } else {
                    end = (start + 1...count).first { allowed[$0] && Self.isBoundary(text, base + $0, range) }
                }
                guard let end else { return false }
                if isCaptured { walk.capture(URLRange(base + start..<base + end)) }
                start = end
            }
        }
        return true
    }

    /// From which places a piece can match so that it ends at an allowed one.
    private func starts(
        of piece: Piece,
        _ text: Span<UInt8>,
        _ range: Range<Int>,
        endingAt allowed: [Bool]
    ) -> [Bool] {
        let base = range.lowerBound
        switch piece {
        case .literal(let literal):
            return allowed.indices.map { place in
                place + literal.count < allowed.count && allowed[place + literal.count]
                    && Self.isThere(literal, text, base + place, range.upperBound)
            }
        case .value(let constraint, _):
            if let automaton = constraint.automaton {
                return automaton.starts(text, range, endingAt: allowed)
            }
            var result = allowed
            var isReachable = false
            for place in allowed.indices.reversed() {
                result[place] = isReachable && Self.isBoundary(text, base + place, range)
                if allowed[place], Self.isBoundary(text, base + place, range) { isReachable = true }
            }
            return result
        }
    }

    /// Whether a character begins at a place, or the text ends there.
    private static func isBoundary(_ text: Span<UInt8>, _ index: Int, _ range: Range<Int>) -> Bool {
        index == range.upperBound || !UTF8Decoder.isContinuation(text[index])
    }
}

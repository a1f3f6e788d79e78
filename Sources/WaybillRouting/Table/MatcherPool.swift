/// The matchers of all segments that need one; segments of one shape share theirs.
struct MatcherPool: Sendable {
    private(set) var all: [SegmentMatcher] = []
    private var numbers: [String: UInt32] = [:]

    func number(of shape: String) -> UInt32? { self.numbers[shape] }

    mutating func number(of matcher: SegmentMatcher) -> UInt32 {
        if let number = self.numbers[matcher.shape] { return number }
        self.all.append(matcher)
        let number = UInt32(self.all.count - 1)
        self.numbers[matcher.shape] = number
        return number
    }
}

/// The first eight values that a match captured, in the order of the pattern.
///
/// Two ranges lie in each word: a match is moved about in few registers instead of being copied as memory.
@usableFromInline
struct Captures: Sendable {
    static let capacity = 8

    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    @inline(__always)
    init(_ first: UInt64 = 0, _ second: UInt64 = 0, _ third: UInt64 = 0, _ fourth: UInt64 = 0) {
        (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
    }

    @inline(__always)
    subscript(index: Int) -> URLRange {
        let word =
            switch index &>> 1 {
            case 0: self.first
            case 1: self.second
            case 2: self.third
            default: self.fourth
            }
        return URLRange(bits: UInt32(truncatingIfNeeded: index & 1 == 1 ? word &>> 32 : word))
    }
}

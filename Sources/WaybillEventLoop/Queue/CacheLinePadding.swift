/// Keeps what stands before it and what stands after it out of one another's cache lines.
///
/// Two lines, since processors fetch them in pairs.
struct CacheLinePadding: Sendable {
    private let bytes = InlineArray<16, UInt64>(repeating: 0)
}

/// A secret that a peer has to send.
struct BearerToken: Sendable {
    private let bytes: [UInt8]

    init(_ text: String) { self.bytes = Array(text.utf8) }

    /// Returns whether a text equals the token.
    ///
    /// The time of the comparison does not depend on the position of the first difference.
    func matches(_ candidate: String) -> Bool {
        let candidate = Array(candidate.utf8)
        guard !self.bytes.isEmpty else { return false }
        var difference = candidate.count ^ self.bytes.count
        for index in candidate.indices {
            difference |= Int(candidate[index] ^ self.bytes[index % self.bytes.count])
        }
        return difference == 0
    }
}

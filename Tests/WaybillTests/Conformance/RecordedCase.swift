/// A case that was recorded with another router.
protocol RecordedCase: Decodable {
    var id: String { get }

    /// What the bus does that is not as was recorded, or nil.
    func difference() async throws -> String?
}

extension RecordedConnectors: RecordedCase {
    func difference() async throws -> String? {
        let answer = try await self.answer()
        return self.expects(answer) ? nil : "\(self.url) gives \(answer), not \(self.expect)"
    }
}

extension RecordedForwards: RecordedCase {
    func difference() async throws -> String? {
        let answer = try await self.answer()
        return answer == self.expected ? nil : "\(self.url) gives \(answer), not \(self.expected)"
    }
}

/// Something that happened in the shop.
public struct ActivityEntry: Codable, Hashable, Sendable {
    /// Counts what happened, from 1.
    public let number: Int
    /// What happened, in a few words.
    public let text: String

    /// Makes an entry.
    public init(number: Int, text: String) {
        self.number = number
        self.text = text
    }
}

extension ActivityEntry: CustomStringConvertible {
    /// Number and text.
    public var description: String { "\(self.number). \(self.text)" }
}

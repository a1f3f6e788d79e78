/// An event of the shop.
public struct ActivityEntry: Codable, Hashable, Sendable {
    /// The number of the event, from 1.
    public let number: Int
    /// A short description of the event.
    public let text: String

    /// Creates an entry.
    public init(number: Int, text: String) {
        self.number = number
        self.text = text
    }
}

extension ActivityEntry: CustomStringConvertible {
    /// The number and the text.
    public var description: String { "\(self.number). \(self.text)" }
}

/// The number that connects a message with its replies.
///
/// Every message has a correlation ID as its ``Message/id``. Each reply and the message to a return URL carry
/// the ID of the message that they answer. An ID is unique in this process. Of two messages that were sent on
/// the same loop, the later message has the greater ID.
public struct CorrelationID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number, whose upper bits identify the part of the process that allocated the ID.
    public let rawValue: UInt64

    /// Creates an ID from its number, for example after the number was received as text or bytes.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The number in hexadecimal, with at most sixteen digits.
    public var description: String { String(self.rawValue, radix: 16) }

    /// Whether the left ID was allocated before the right ID, if both were allocated on the same loop.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

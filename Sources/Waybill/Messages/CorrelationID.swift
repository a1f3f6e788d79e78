/// The number that connects a message with its replies.
///
/// Every message has one as its ``Message/id``. The reply, each progress reply and the message on a return
/// URL carry it as their correlation ID. It is unique in this process, and later messages of one sender have
/// greater numbers.
public struct CorrelationID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number itself.
    ///
    /// The upper bits identify the part of the process that allocated it.
    public let rawValue: UInt64

    /// Creates an ID from its number, for example after it was sent as text or bytes.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The number in hexadecimal, with at most sixteen digits.
    public var description: String { String(self.rawValue, radix: 16) }

    /// Whether a sender allocated the left ID before the right one.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

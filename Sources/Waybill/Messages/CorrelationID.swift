/// The number that ties a message to its replies.
///
/// Every message has one as its ``Message/id``; the reply, each progress reply and the message on a return
/// URL carry it as their correlation ID. It is unique in this process, and later messages of one sender have
/// greater numbers.
public struct CorrelationID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number itself; the upper bits say which part of the process gave it out.
    public let rawValue: UInt64

    /// Makes an ID from its number, when it has travelled as text or bytes.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Sixteen hexadecimal digits at the most.
    public var description: String { String(self.rawValue, radix: 16) }

    /// The order in which one sender gave the IDs out.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The operations that a peer may perform on the URLs of an exposed pattern.
///
/// A set of operations is passed to ``MessageBus/expose(_:for:)``. Each operation is exposed separately: a
/// peer that may call a URL can neither publish to it nor subscribe to it unless those operations are exposed
/// too.
public struct ExposedOperations: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Requests whose replies the peer awaits, including progress replies, and values that are sent to a
    /// return URL.
    public static let calls = Self(rawValue: 1)

    /// Messages that no caller awaits, and values that are sent to a return URL.
    public static let sends = Self(rawValue: 2)

    /// Messages to all subscribers of a URL.
    public static let publishing = Self(rawValue: 4)

    /// Subscriptions to the messages that are published to a URL.
    public static let subscribing = Self(rawValue: 8)

    /// Calls that change nothing, together with ``calls``.
    ///
    /// An HTTP gateway accepts these calls with GET, and browsers, proxies and search engines may repeat and
    /// prefetch GET requests freely. The operation is a promise about the handlers of the pattern, so it is
    /// not part of ``all``.
    public static let reads = Self(rawValue: 16 | 1)

    /// Calls, sends, publishing and subscribing.
    public static let all: Self = [.calls, .sends, .publishing, .subscribing]
}

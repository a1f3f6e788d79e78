/// The operations that a peer may perform on the URLs of an exposed pattern.
///
/// Each operation is exposed separately: a peer that may call a URL can neither publish nor subscribe to it
/// unless ``MessageBus/expose(_:for:)`` receives these operations too.
public struct ExposedOperations: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Messages whose replies the peer awaits, progress replies, and values for a return URL that the peer
    /// gave.
    public static let calls = Self(rawValue: 1)

    /// Messages that the peer does not await, and values for a return URL that the peer gave.
    public static let sends = Self(rawValue: 2)

    /// Messages to all subscribers of a URL.
    public static let publishing = Self(rawValue: 4)

    /// Subscriptions to the messages that are published to a URL.
    public static let subscribing = Self(rawValue: 8)

    /// Calls whose handlers change nothing; the set also contains ``calls``.
    ///
    /// An HTTP gateway accepts these calls with GET. Browsers, proxies and search engines may repeat and
    /// prefetch GET requests at any time. The operation is a promise about the handlers, so ``all`` does not
    /// contain it.
    public static let reads = Self(rawValue: 16 | 1)

    /// Calls, sends, publishing and subscribing.
    public static let all: Self = [.calls, .sends, .publishing, .subscribing]
}

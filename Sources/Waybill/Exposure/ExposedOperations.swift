/// What a peer may do with the URLs of a pattern that is exposed.
///
/// A set is passed to ``MessageBus/expose(_:for:)``. Each operation is exposed apart: a peer that may call a
/// URL can neither publish to it nor subscribe to it.
public struct ExposedOperations: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Requests that a peer awaits the reply of, with progress replies; also values that go to a return URL.
    public static let calls = Self(rawValue: 1)

    /// Messages that no caller awaits; also values that go to a return URL.
    public static let sends = Self(rawValue: 2)

    /// Messages to every subscriber of a URL.
    public static let publishing = Self(rawValue: 4)

    /// Receiving the messages that are published to a URL.
    public static let subscribing = Self(rawValue: 8)

    /// Calls that change nothing, which includes ``calls``: an HTTP gateway answers them to GET, which
    /// browsers, proxies and search engines repeat and follow at will.
    ///
    /// It is a promise about the handlers of the pattern, so it is not part of ``all``.
    public static let reads = Self(rawValue: 16 | 1)

    /// Calls, sends, publishing and subscribing.
    public static let all: Self = [.calls, .sends, .publishing, .subscribing]
}

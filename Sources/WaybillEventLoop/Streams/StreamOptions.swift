/// How a listener and its connections, or one connection, behave.
///
/// Every value has a default; set what should differ:
///
/// ```swift
/// var options = StreamOptions()
/// options.idleTimeout = .seconds(60)
/// let listener = try await StreamListener.bind(.tcp("::1", port: 0), on: eventLoop, options: options)
/// ```
public struct StreamOptions: Sendable {
    /// How many connections the system keeps for a listener until they are accepted; it may allow fewer.
    public var backlog = 1024

    /// How many bytes may wait to be sent before ``StreamConnection/write(_:)-([UInt8])`` suspends.
    public var highWaterMark = 64 * 1024

    /// The most bytes that one read returns.
    public var readBufferSize = 64 * 1024

    /// How long a connection may neither receive nor send a byte before it is closed; nil for as long as it
    /// likes.
    ///
    /// Bytes that arrive and are not read do not count. Measured by the loop's clock.
    public var idleTimeout: Duration?

    /// How long ``StreamConnection/connect(to:on:options:)`` tries, name resolution included; nil for as long
    /// as the system does.
    public var connectTimeout: Duration? = .seconds(10)

    /// How long a connection that was closed still sends what was written before; what is left then is
    /// dropped.
    public var closeTimeout: Duration = .seconds(5)

    /// Whether small writes are sent at once over TCP (`TCP_NODELAY`) instead of being collected.
    public var sendsSmallWritesAtOnce = true

    /// After how much silence the system asks whether the other side of a TCP connection is still there, in
    /// whole seconds, at least one; nil for never.
    ///
    /// A host that has lost its power or its network says no goodbye. It is asked ten times, a second apart, and
    /// then the connection ends with an error.
    public var keepAliveTime: Duration? = .seconds(60)

    /// The permissions of a listener's Unix socket; by default only its owner connects.
    public var permissions: UInt32 = 0o600

    /// Creates options with the defaults.
    public init() {}
}

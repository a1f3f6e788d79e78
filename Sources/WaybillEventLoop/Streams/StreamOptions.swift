/// The settings of a listener and its connections, or of one connection.
///
/// Every setting has a default; change only the settings that must differ:
///
/// ```swift
/// var options = StreamOptions()
/// options.idleTimeout = .seconds(60)
/// let listener = try await StreamListener.bind(.tcp("::1", port: 0), on: eventLoop, options: options)
/// ```
public struct StreamOptions: Sendable {
    /// The number of connections that the system queues for a listener until they are accepted.
    ///
    /// The system may limit the number further.
    public var backlog = 1024

    /// The number of queued bytes above which ``StreamConnection/write(_:)-([UInt8])`` suspends.
    public var highWaterMark = 64 * 1024

    /// The most bytes that one read returns.
    public var readBufferSize = 64 * 1024

    /// The time without a sent or received byte after which a connection is closed; nil for no limit.
    ///
    /// Bytes that have arrived but are not read do not count. The loop's clock measures the time.
    public var idleTimeout: Duration?

    /// The time limit of ``StreamConnection/connect(to:on:options:)``, including name resolution.
    ///
    /// If the value is nil, only the system limits the time.
    public var connectTimeout: Duration? = .seconds(10)

    /// The time limit for sending the queued bytes of a connection that this side has closed.
    ///
    /// The limit includes the time until the peer's system acknowledges the bytes. After this time, the
    /// connection drops the bytes that it has not sent.
    public var closeTimeout: Duration = .seconds(5)

    /// Whether small writes over TCP are sent at once (`TCP_NODELAY`) instead of being collected.
    public var sendsSmallWritesAtOnce = true

    /// The period of silence after which the system probes the peer of a TCP connection; nil to disable
    /// probes.
    ///
    /// The period is counted in whole seconds and is at least one second. A host that has lost its power or
    /// its network does not close its connections. The system sends the silent host ten probes, a second
    /// apart. If the host answers none of them, the connection ends with an error.
    ///
    /// The system sends no probes while the host has not acknowledged sent bytes. It then sends these bytes
    /// again and again, and ends the connection when its own limit has passed. On Linux, this limit is about
    /// 15 minutes (`net.ipv4.tcp_retries2`).
    public var keepAliveTime: Duration? = .seconds(60)

    /// The permissions of a listener's Unix socket.
    ///
    /// By default, only the owner of the socket may connect.
    public var permissions: UInt32 = 0o600

    /// Creates options with the defaults.
    public init() {}
}

internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The frames of a connection in both directions.
///
/// A frame is the text of one message or batch. A channel belongs to the actor that created it, which runs on
/// the connection's loop. Frames that the actor enqueues while it handles received frames are written
/// together, before the channel waits for more bytes. A peer that sends many requests at once therefore
/// causes few system calls.
final class FrameChannel: RPCChannel {
    let connection: StreamConnection
    private let time: TimeSource
    private var reader: FrameReader
    private let writer: FrameWriter
    /// The time since which the channel has waited for bytes, in nanoseconds; nil while the channel does not
    /// wait.
    private var awaitsSince: Int64?

    init(_ connection: StreamConnection, limit: Int, framing: FrameReader.Framing? = nil) {
        self.connection = connection
        self.time = connection.eventLoop.time
        self.reader = FrameReader(limit: limit, framing: framing, at: self.time.now)
        self.writer = FrameWriter(connection)
    }

    /// Returns the next frame, or nil when the peer has closed its side.
    ///
    /// If `isFlushing` is true, the channel writes the enqueued frames before reading on. If the peer does
    /// not read its answers, the channel then stops reading from the peer. Only one of two peers may do this.
    /// Otherwise each peer could wait for the other.
    ///
    /// `checkPart` receives the number of bytes of the incomplete next frame, before the channel waits for
    /// more bytes. If the closure throws an error, the caller closes the connection.
    ///
    /// - Throws: ``FrameError``, or ``/WaybillEventLoop/StreamError`` if reading fails.
    nonisolated(nonsending) func next(
        isFlushing: Bool,
        checkingPart checkPart: (Int) throws(FrameError) -> Void = { _ in }
    ) async throws -> JSONText? {
        while true {
            if let frame = try self.reader.next() { return frame }
            try checkPart(self.reader.partialSize)
            if isFlushing { await self.flush() }
            let start = self.time.now
            self.awaitsSince = start
            defer { self.awaitsSince = nil }
            guard let bytes = try await self.connection.read() else { return nil }
            let end = self.time.now
            self.reader.append(bytes, at: end, after: end - start)
        }
    }

    /// Changes the maximum size of a frame, in bytes.
    func setLimit(_ limit: Int) { self.reader.limit = limit }

    /// Whether the channel is closed, so that no more messages can be sent.
    var isClosed: Bool { self.connection.isClosed }

    /// Whether messages no longer reach the peer, although messages of the peer may still arrive.
    var isBroken: Bool { self.connection.isBroken }

    /// The number of enqueued bytes that the system has not accepted yet.
    var unsentBytes: Int { self.writer.assumeOnLoop { $0.unsentBytes } }

    /// The instant at which the last bytes arrived.
    var lastReceived: ContinuousClock.Instant { self.time.instant(at: self.reader.lastReceived) }

    /// The time that the channel has waited for the end of a partial frame; nil if no frame is partial.
    ///
    /// The time in which this side did not read, because the peer had not read its answers, does not count.
    var partialFrameWait: Duration? {
        guard let wait = self.reader.partialFrameWait else { return nil }
        return .nanoseconds(wait + (self.awaitsSince.map { self.time.now - $0 } ?? 0))
    }

    /// Returns the instant since which the peer has not read, or nil when no bytes wait for the peer.
    ///
    /// The result depends on earlier calls, so call the method repeatedly.
    func stalledSince(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        self.writer.assumeOnLoop { $0.stalledSince(at: now) }
    }

    /// Enqueues a message for the next write.
    @discardableResult
    func enqueue(_ body: [UInt8]) -> Bool {
        let framing = self.reader.framing ?? .lines
        self.writer.assumeOnLoop { $0.enqueue(body, framing) }
        return true
    }

    /// Writes the enqueued messages, and waits while too many bytes are unread.
    nonisolated(nonsending) func flush() async { await self.writer.flush() }

    /// Schedules one write of all messages that the code running now enqueues.
    func flushSoon() { self.writer.assumeOnLoop { $0.flushSoon() } }

    var peer: String { "\(PeerName(self.connection))" }
    func objection(to result: JSONText) -> RoutingError? { nil }

    func objection(toEarly value: JSONText) -> RoutingError? {
        // The message around the value adds at most four levels of nesting.
        value.objection(depthLimit: RPCClient.depthLimit - 4)
    }

    /// Closes the channel after the messages for which `flush` was called are sent.
    func close() { self.connection.close() }

    /// Closes the channel without waiting for enqueued messages.
    func abort() { self.connection.abort() }
}

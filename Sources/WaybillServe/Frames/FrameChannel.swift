internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The frames of a connection in both directions.
///
/// A channel belongs to the actor that created it, which runs on the connection's loop. Frames that are
/// enqueued while frames are read are written together, before the channel waits for more bytes. A peer with
/// many requests in flight therefore costs few system calls.
final class FrameChannel: RPCChannel {
    let connection: StreamConnection
    private let time: TimeSource
    private var reader: FrameReader
    private let writer: FrameWriter
    /// The time since which the channel has waited for bytes, in nanoseconds; nil while the owner does not
    /// read.
    private var awaitsSince: Int64?

    init(_ connection: StreamConnection, limit: Int, framing: FrameReader.Framing? = nil) {
        self.connection = connection
        self.time = connection.eventLoop.time
        self.reader = FrameReader(limit: limit, framing: framing, at: self.time.now)
        self.writer = FrameWriter(connection)
    }

    /// Returns the next frame, or nil when the peer has closed its side.
    ///
    /// - Parameters:
    ///   - isFlushing: Whether to write the enqueued frames before reading on. Nothing more is then read from
    ///     a peer that does not read its answers. Only one of two peers may flush, or each would wait for the
    ///     other.
    ///   - checkPart: A closure that is called with the number of bytes of the next frame that have arrived,
    ///     before the channel waits for more. The error that it throws ends the channel.
    /// - Returns: The frame.
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

    var isBroken: Bool { self.connection.isBroken }

    var unsentBytes: Int { self.writer.assumeOnLoop { $0.unsentBytes } }

    /// The instant at which the last bytes arrived.
    var lastReceived: ContinuousClock.Instant { self.time.instant(at: self.reader.lastReceived) }

    /// How long the channel has waited for the rest of a partial frame; nil between two frames.
    ///
    /// The value excludes the time in which this side did not read because the peer had not read its answers.
    var partialFrameWait: Duration? {
        guard let wait = self.reader.partialFrameWait else { return nil }
        return .nanoseconds(wait + (self.awaitsSince.map { self.time.now - $0 } ?? 0))
    }

    /// Returns the instant since which the peer has read none of the bytes being written; nil if none wait.
    ///
    /// The result is based on earlier calls, so call the method repeatedly.
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

    /// Writes the enqueued messages; waits while the peer does not read enough.
    nonisolated(nonsending) func flush() async { await self.writer.flush() }

    /// Schedules one write of all messages that the code running now enqueues.
    func flushSoon() { self.writer.assumeOnLoop { $0.flushSoon() } }

    var peer: String { "\(PeerName(self.connection))" }
    var isClosed: Bool { self.connection.isClosed }
    func accepted(_ id: RPCID) {}
    func objection(to result: JSONText) -> RoutingError? { nil }
    func close() { self.connection.close() }
    func abort() { self.connection.abort() }
}

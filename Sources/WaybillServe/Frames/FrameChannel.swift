internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The frames of a connection in both directions.
///
/// The channel belongs to the actor that created it, which is on the connection's loop. Frames that are
/// enqueued while frames are read are written together before the next read. A peer with many requests in
/// flight therefore costs few system calls.
final class FrameChannel: RPCChannel {
    let connection: StreamConnection
    private let time: TimeSource
    private var reader: FrameReader
    private let writer: FrameWriter
    /// Since when bytes are awaited, in nanoseconds; nil while the owner of the channel does not read.
    private var awaitsSince: Int64?

    init(_ connection: StreamConnection, limit: Int, framing: FrameReader.Framing? = nil) {
        self.connection = connection
        self.time = connection.eventLoop.time
        self.reader = FrameReader(limit: limit, framing: framing, at: self.time.now)
        self.writer = FrameWriter(connection)
    }

    /// Returns the next frame, or nil when the peer has finished.
    ///
    /// - Parameter isFlushing: Whether enqueued frames are written first. A peer that does not read is then
    ///   not read from either. Only one of two peers may do this, or each would wait for the other.
    /// - Returns: The frame.
    /// - Throws: ``FrameError``, or the ``WaybillEventLoop/StreamError`` of reading.
    nonisolated(nonsending) func next(isFlushing: Bool) async throws -> JSONText? {
        while true {
            if let frame = try self.reader.next() { return frame }
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

    /// When the last bytes came.
    var lastReceived: ContinuousClock.Instant { self.time.instant(at: self.reader.lastReceived) }

    /// How long the rest of a partial frame has been awaited; nil between two frames.
    ///
    /// The time in which this side did not read, since the peer had not read its answers, is not included.
    var partialFrameWait: Duration? {
        guard let wait = self.reader.partialFrameWait else { return nil }
        return .nanoseconds(wait + (self.awaitsSince.map { self.time.now - $0 } ?? 0))
    }

    /// Returns the time since which the peer has read nothing, as far as earlier calls have observed it.
    func stalledSince(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        self.writer.assumeOnLoop { $0.stalledSince(at: now) }
    }

    /// Appends a message to the next write.
    @discardableResult
    func enqueue(_ body: [UInt8]) -> Bool {
        let framing = self.reader.framing ?? .lines
        self.writer.assumeOnLoop { $0.enqueue(body, framing) }
        return true
    }

    /// Writes what is enqueued; waits while the peer takes too little.
    nonisolated(nonsending) func flush() async { await self.writer.flush() }

    /// Writes what the code that runs now enqueues, in one go.
    func flushSoon() { self.writer.assumeOnLoop { $0.flushSoon() } }

    var peer: String { "\(PeerName(self.connection))" }
    var isClosed: Bool { self.connection.isClosed }
    func accepted(_ id: RPCID) {}
    func objection(to result: JSONText) -> RoutingError? { nil }
    func close() { self.connection.close() }
    func abort() { self.connection.abort() }
}

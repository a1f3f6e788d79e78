internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The frames of a connection in both directions.
///
/// It belongs to the actor that made it, which is on the connection's loop. What is enqueued while frames are
/// read is written at once before the next bytes are awaited, so that a peer with many requests in flight
/// costs few system calls.
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

    /// The next frame, or nil when the peer has finished.
    ///
    /// - Parameter isFlushing: Whether what was enqueued is written first, so that a peer that takes none of
    ///   it gets nothing more read. Of two peers only one may do so, or each would wait for the other.
    /// - Returns: The frame.
    /// - Throws: ``FrameError``, or ``WaybillEventLoop/StreamError`` as reading does.
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

    /// Since when the peer has taken nothing of what is being written, by the looks so far.
    func stalledSince(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        self.writer.assumeOnLoop { $0.stalledSince(at: now) }
    }

    /// Appends a message to what is written next.
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

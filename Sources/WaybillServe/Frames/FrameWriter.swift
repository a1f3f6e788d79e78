internal import WaybillEventLoop

/// Writes frames in the order in which they were enqueued.
///
/// All waiting frames are written together. Bytes that the connection accepts are written at once. A single
/// task waits to write the other bytes. The task belongs to no caller, so the cancellation of a caller does
/// not affect the frames of other callers.
actor FrameWriter: LoopBound {
    nonisolated let eventLoop: EventLoop
    private let connection: StreamConnection
    private var output: [UInt8] = []
    private var isWriting = false
    private var isFlushDue = false
    private var waiting: [SuspendedTask] = []
    /// The number of bytes that were passed to the connection.
    private var written = 0
    /// The number of bytes that the system had accepted at the last check, the size of the system's buffer,
    /// and the instant since which both are the same.
    private var progress: (accepted: Int, buffered: Int, since: ContinuousClock.Instant)?

    init(_ connection: StreamConnection) {
        self.eventLoop = connection.eventLoop
        self.connection = connection
    }

    /// Enqueues a message for the next write.
    func enqueue(_ body: [UInt8], _ framing: FrameReader.Framing) { framing.append(body, to: &self.output) }

    /// The number of enqueued bytes that the system has not accepted yet.
    var unsentBytes: Int { self.output.count + self.connection.unsentBytes }

    /// Writes the enqueued frames, and waits while too many bytes are unread.
    ///
    /// The method reports no errors, because the task that reads from the connection receives the same
    /// errors.
    func flush() async {
        if !self.isWriting {
            if self.output.isEmpty || self.writeAtOnce() { return }
            Task.immediate { await self.writeRest() }
        }
        guard self.isWriting else { return }
        let task = SuspendedTask(on: self.eventLoop)
        self.waiting.append(task)
        await task.wait()
    }

    /// Schedules one write of all frames that the code running now enqueues.
    func flushSoon() {
        guard !self.isFlushDue, !self.isWriting else { return }
        self.isFlushDue = true
        Task {
            self.isFlushDue = false
            if !self.isWriting, !self.writeAtOnce() { await self.writeRest() }
        }
    }

    /// Writes the enqueued frames, and returns whether the connection accepts more bytes.
    private func writeAtOnce() -> Bool {
        let bytes = self.output
        self.output = []
        self.written += bytes.count
        return self.connection.writeAtOnce(bytes)
    }

    /// Returns the instant since which the peer has not read, or nil when no bytes wait for the peer.
    ///
    /// The method compares the number of bytes that the system has accepted, and the size of the system's
    /// buffer, with their values at the previous call. The system accepts bytes again only after the peer has
    /// read a large part of the buffer, but the size of the buffer changes earlier. Call the method
    /// repeatedly, to distinguish a slow peer from a peer that reads nothing.
    func stalledSince(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let unsent = self.connection.unsentBytes
        guard unsent > 0 else {
            self.progress = nil
            return nil
        }
        let (accepted, buffered) = (self.written - unsent, self.connection.bufferedSize)
        if let progress = self.progress, (progress.accepted, progress.buffered) == (accepted, buffered) {
            return progress.since
        }
        self.progress = (accepted, buffered, now)
        return now
    }

    /// Waits until the connection accepts more bytes, and writes the frames that were enqueued during the
    /// wait.
    private func writeRest() async {
        self.isWriting = true
        repeat {
            try? await self.connection.waitUntilWritable()
        } while !self.output.isEmpty && !self.writeAtOnce()
        self.isWriting = false
        let waiting = self.waiting
        self.waiting = []
        for task in waiting { task.resume() }
    }
}

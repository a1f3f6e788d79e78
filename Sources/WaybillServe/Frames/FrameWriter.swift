internal import WaybillEventLoop

/// Writes frames in the order in which they were enqueued; all waiting frames are written together.
///
/// Bytes that the connection accepts are written at once. A single task waits to write the rest. It belongs
/// to no caller, so the cancellation of a caller does not affect the frames of others.
actor FrameWriter: LoopBound {
    nonisolated let eventLoop: EventLoop
    private let connection: StreamConnection
    private var output: [UInt8] = []
    private var isWriting = false
    private var isFlushDue = false
    private var waiting: [SuspendedTask] = []
    /// The number of bytes that the peer had left unread at the last check, and the instant since which the
    /// number is the same.
    private var backlog: (count: Int, since: ContinuousClock.Instant)?

    init(_ connection: StreamConnection) {
        self.eventLoop = connection.eventLoop
        self.connection = connection
    }

    /// Enqueues a message for the next write.
    func enqueue(_ body: [UInt8], _ framing: FrameReader.Framing) { framing.append(body, to: &self.output) }

    /// The number of enqueued bytes that the system has not accepted.
    var unsentBytes: Int { self.output.count + self.connection.unsentBytes }

    /// Writes the enqueued frames; waits while the peer does not read enough.
    ///
    /// Errors are not reported, because the task that reads from the connection gets them as well.
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

    /// Writes the enqueued frames.
    ///
    /// - Returns: Whether the connection accepts more bytes.
    private func writeAtOnce() -> Bool {
        let bytes = self.output
        self.output = []
        return self.connection.writeAtOnce(bytes)
    }

    /// Returns the instant since which the peer has read none of the bytes being written; nil if none wait.
    ///
    /// The method compares the number of unsent bytes with the number at the previous call. Call it
    /// repeatedly, to tell a slow peer from a stalled one.
    func stalledSince(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard self.isWriting else { return nil }
        let count = self.connection.unsentBytes
        if let backlog = self.backlog, backlog.count == count { return backlog.since }
        self.backlog = (count, now)
        return now
    }

    /// Waits until the connection accepts more bytes, and writes the frames that were enqueued in the
    /// meantime.
    private func writeRest() async {
        self.isWriting = true
        repeat {
            self.backlog = nil
            try? await self.connection.waitUntilWritable()
        } while !self.output.isEmpty && !self.writeAtOnce()
        self.isWriting = false
        let waiting = self.waiting
        self.waiting = []
        for task in waiting { task.resume() }
    }
}

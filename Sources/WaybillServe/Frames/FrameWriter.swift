internal import WaybillEventLoop

/// Writes frames in the order in which they were enqueued. Waiting frames are written together.
///
/// The bytes that the connection accepts are written immediately. One task waits to write the rest. It
/// belongs to no caller, so a cancelled caller does not affect frames that other callers have enqueued.
actor FrameWriter: LoopBound {
    nonisolated let eventLoop: EventLoop
    private let connection: StreamConnection
    private var output: [UInt8] = []
    private var isWriting = false
    private var isFlushDue = false
    private var waiting: [SuspendedTask] = []
    /// The number of unread bytes at the last observation, and the time since which it is the same.
    private var backlog: (count: Int, since: ContinuousClock.Instant)?

    init(_ connection: StreamConnection) {
        self.eventLoop = connection.eventLoop
        self.connection = connection
    }

    /// Appends a message to the next write.
    func enqueue(_ body: [UInt8], _ framing: FrameReader.Framing) { framing.append(body, to: &self.output) }

    /// The number of bytes that are enqueued and that the system has not taken.
    var unsentBytes: Int { self.output.count + self.connection.unsentBytes }

    /// Writes what is enqueued; waits while the peer takes too little.
    ///
    /// A failure is not reported: the task that reads meets it as well.
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

    /// Writes when the code that runs now has enqueued whatever it does.
    func flushSoon() {
        guard !self.isFlushDue, !self.isWriting else { return }
        self.isFlushDue = true
        Task {
            self.isFlushDue = false
            if !self.isWriting, !self.writeAtOnce() { await self.writeRest() }
        }
    }

    /// Writes what is enqueued.
    ///
    /// - Returns: Whether the connection takes more.
    private func writeAtOnce() -> Bool {
        let bytes = self.output
        self.output = []
        return self.connection.writeAtOnce(bytes)
    }

    /// Returns the time since which the peer has read nothing, or nil when nothing waits for it.
    ///
    /// The function compares with its previous call, so it must be called repeatedly. A slow peer makes
    /// progress from one call to the next.
    func stalledSince(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard self.isWriting else { return nil }
        let count = self.connection.unsentBytes
        if let backlog = self.backlog, backlog.count == count { return backlog.since }
        self.backlog = (count, now)
        return now
    }

    /// Waits until the connection takes more, and writes what has been enqueued meanwhile.
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

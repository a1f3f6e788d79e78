internal import WaybillEventLoop

/// Writes frames in the order in which they were enqueued: all that wait go out together.
///
/// What the connection takes is written at once. For the rest one task waits at a time, and it belongs to no
/// caller: a caller that is cancelled takes nothing with it of what others have enqueued.
actor FrameWriter: LoopBound {
    nonisolated let eventLoop: EventLoop
    private let connection: StreamConnection
    private var output: [UInt8] = []
    private var isWriting = false
    private var isFlushDue = false
    private var waiting: [SuspendedTask] = []
    /// What the peer had left unread at the last look, and since when it has been as much.
    private var backlog: (count: Int, since: ContinuousClock.Instant)?

    init(_ connection: StreamConnection) {
        self.eventLoop = connection.eventLoop
        self.connection = connection
    }

    /// Appends a message to what is written next.
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

    /// Since when the peer has taken nothing of what is being written; nil if nothing waits for it.
    ///
    /// A peer that is slow gets on from one look to the next, so this must be called again and again.
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

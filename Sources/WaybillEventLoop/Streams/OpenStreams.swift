/// What a loop has to end when it shuts down: a listener, a connection, or a name that is being resolved.
protocol LoopStream: AnyObject {
    /// Fails whatever waits, and closes the handle; called once, on the loop's thread.
    func endForShutDown()
}

/// The streams of one loop, and the memory that they share; touched by the loop's thread only.
@safe
struct OpenStreams: ~Copyable {
    /// The size of ``scratch``.
    static var scratchSize: Int { 16 * 1024 }

    private var streams: [ObjectIdentifier: any LoopStream] = [:]
    private var memory: UnsafeMutableRawBufferPointer?

    deinit { unsafe self.memory?.deallocate() }

    /// How many streams are open.
    var count: Int { self.streams.count }

    /// Where bytes are received before their number is known, so that an idle connection needs no buffer.
    var scratch: UnsafeMutableRawBufferPointer {
        mutating get {
            if let memory = unsafe self.memory { return unsafe memory }
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.scratchSize, alignment: 16)
            unsafe self.memory = memory
            return unsafe memory
        }
    }

    mutating func insert(_ stream: any LoopStream) { self.streams[ObjectIdentifier(stream)] = stream }

    mutating func remove(_ stream: any LoopStream) { self.streams[ObjectIdentifier(stream)] = nil }

    mutating func removeAll() -> [any LoopStream] {
        defer { self.streams = [:] }
        return Array(self.streams.values)
    }
}

extension LoopCore {
    /// Whether streams can be opened; on the loop's thread.
    var admitsStreams: Bool { unsafe self.state.pointee.handles != nil }

    /// Keeps a stream until it is closed, to end it when the loop shuts down; on the loop's thread.
    func add(_ stream: any LoopStream) { unsafe self.state.pointee.streams.insert(stream) }

    /// Forgets a stream that has ended; on the loop's thread.
    func remove(_ stream: any LoopStream) { unsafe self.state.pointee.streams.remove(stream) }

    /// Ends every stream: the loop shuts down.
    func endStreams() {
        let streams = unsafe self.state.pointee.streams.removeAll()
        for stream in streams { stream.endForShutDown() }
    }

    /// Closes the handle of a stream, and makes the loop wait for that.
    ///
    /// - Parameters:
    ///   - close: Calls the handle's `close`, with the closure it is given.
    ///   - onClosed: Runs when libuv no longer uses the handle.
    func closeStream(
        _ close: (_ onClosed: @escaping () -> Void) -> Void,
        onClosed: @escaping () -> Void = {}
    ) {
        unsafe self.state.pointee.openHandles += 1
        close {
            onClosed()
            self.handleClosed()
        }
    }

    /// Runs what libuv calls while it polls: what is queued there runs before the loop blocks.
    func whilePolling(_ body: () -> Void) {
        unsafe self.state.pointee.isInCallback = true
        body()
        unsafe self.state.pointee.isInCallback = false
    }

    /// Runs a closure at a deadline, unless the loop shuts down before; on the loop's thread.
    ///
    /// - Returns: What cancels it; nil if the deadline is never.
    func startStreamTimer(
        at deadline: Deadline,
        _ body: @escaping @Sendable () -> Void
    ) -> ScheduledTimer? {
        guard deadline.exists else { return nil }
        let timer = ScheduledTimer(core: self)
        timer.start(.body(body), at: deadline.nanoseconds)
        return timer
    }

    /// The moment some time from now; never, if there is no time.
    func deadline(after timeout: Duration?) -> Deadline {
        timeout.map { Deadline(after: $0, by: self.configuration.time) } ?? .never
    }
}

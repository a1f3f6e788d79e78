/// An object that a loop ends when the loop shuts down: a listener, a connection, or a name resolution.
protocol LoopStream: AnyObject {
    /// Fails every waiting task, and closes the handle; called once, on the loop's thread.
    func endForShutDown()
}

/// The open streams of one loop and their shared memory, which only the loop's thread accesses.
@safe
struct OpenStreams: ~Copyable {
    static var scratchSize: Int { 16 * 1024 }

    private var streams: [ObjectIdentifier: any LoopStream] = [:]
    private var memory: UnsafeMutableRawBufferPointer?

    deinit { unsafe self.memory?.deallocate() }

    var count: Int { self.streams.count }

    /// The memory into which a connection receives bytes before it knows their number.
    ///
    /// All connections share this memory, so an idle connection needs no buffer.
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
    /// Whether the loop accepts new streams; only the loop's thread may read this property.
    var admitsStreams: Bool { unsafe self.state.pointee.handles != nil }

    /// Adds a stream, on the loop's thread, so that a shutdown of the loop can end the stream.
    func add(_ stream: any LoopStream) { unsafe self.state.pointee.streams.insert(stream) }

    /// Removes an ended stream, on the loop's thread.
    func remove(_ stream: any LoopStream) { unsafe self.state.pointee.streams.remove(stream) }

    /// Ends every stream when the loop shuts down.
    func endStreams() {
        let streams = unsafe self.state.pointee.streams.removeAll()
        for stream in streams { stream.endForShutDown() }
    }

    /// Closes the handle of a stream, and makes the loop wait until the handle is closed.
    ///
    /// `onClosed` runs when libuv no longer uses the handle.
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

    /// Makes the loop wait for a name lookup, until the lookup calls ``handleClosed()``.
    func lookupStarted() { unsafe self.state.pointee.openHandles += 1 }

    /// Runs the body of a callback that libuv calls while it polls.
    ///
    /// Work that the callback enqueues runs before the loop blocks.
    func whilePolling(_ body: () -> Void) {
        unsafe self.state.pointee.isInCallback = true
        body()
        unsafe self.state.pointee.isInCallback = false
    }

    /// Schedules a closure at a deadline, on the loop's thread, unless the loop shuts down first.
    ///
    /// The result is nil if the deadline is `never`.
    func startStreamTimer(
        at deadline: Deadline,
        _ body: @escaping @Sendable () -> Void
    ) -> ScheduledTimer? {
        guard deadline.exists else { return nil }
        let timer = ScheduledTimer(core: self)
        timer.start(.body(body), at: deadline.nanoseconds)
        return timer
    }

    /// Returns the deadline after a timeout; `never` if the timeout is nil.
    func deadline(after timeout: Duration?) -> Deadline {
        timeout.map { Deadline(after: $0, by: self.configuration.time) } ?? .never
    }
}

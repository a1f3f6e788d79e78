/// The state machine of a connection.
///
/// The state machine decides the next action and performs no I/O. Reading and writing end independently:
/// reading ends when the peer finishes writing, and `finishWriting` ends writing. A connection that is closed
/// from this side sends its queued bytes first (`draining`), and then makes sure that they arrive
/// (`lingering`).
struct ConnectionState {
    enum Phase: Equatable {
        case connecting, open, draining, lingering, closed
    }

    private enum Writing {
        case open
        /// Writing ends after all bytes are sent.
        case finishing
        /// The system has been asked to end writing.
        case shuttingDown
        case finished
        case failed(StreamError)
    }

    private(set) var phase: Phase
    private(set) var pull: PullState
    /// The number of bytes to be sent, including the bytes that libuv holds.
    private(set) var pendingBytes = 0
    /// Whether libuv waits until the socket accepts bytes again.
    private(set) var isBlocked = false
    private(set) var hasPeerFinished = false
    private var writing = Writing.open
    /// The reason why the connection is closed, or is being closed.
    private var failure: StreamError?
    private let highWaterMark: Int

    /// Creates the state of a connection; writers wait while more than `highWaterMark` bytes are queued.
    init(isConnected: Bool, highWaterMark: Int) {
        self.phase = isConnected ? .open : .connecting
        // A client's first bytes have often arrived before its connection is accepted.
        self.pull = PullState(isReady: isConnected)
        self.highWaterMark = max(0, highWaterMark)
    }

    /// Records that the socket is connected.
    mutating func connected() { self.phase = .open }
}

extension ConnectionState {
    /// The action of a call to read.
    enum Read {
        case pull
        case wait(watch: Bool)
        case end
        case fail(StreamError)
    }

    /// Whether a call to read will probably return without waiting.
    var answersAtOnce: Bool { self.pull.isReady || self.hasPeerFinished || self.failure != nil }

    /// Starts a read for a task; `address` is for the error of a second reader.
    mutating func read(_ address: @autoclosure () -> StreamAddress) -> Read {
        if let failure = self.failure { return .fail(failure) }
        if self.hasPeerFinished { return .end }
        switch self.pull.call() {
        case .pull: return .pull
        case .wait(let watch): return .wait(watch: watch)
        case .refuse:
            let message = "another task waits for bytes of this connection"
            return .fail(StreamError(.alreadyWaiting, message: message, address: address()))
        }
    }

    /// Records that the socket has become readable, and returns the action.
    mutating func becameReadable() -> PullState.Event { self.pull.becameReady() }

    /// Records received bytes; `more` is true if the bytes filled the buffer, so that more bytes may follow.
    mutating func received(more: Bool) { self.pull.took(more: more) }

    /// Records that no bytes were available.
    mutating func receivedNothing() { self.pull.tookNothing() }

    /// Records that the peer has finished writing.
    mutating func peerFinished() {
        self.hasPeerFinished = true
        self.pull.took(more: false)
    }

    /// Records that the task no longer waits for bytes.
    mutating func cancelRead() { self.pull.cancel() }
}

extension ConnectionState {
    /// The action of a call to write.
    enum Write {
        /// Write at once, because the queue is empty.
        case send
        /// Append the bytes to the queue.
        case queue
        case fail(StreamError)
    }

    /// The next action for the queued bytes and for the tasks that wait for them.
    enum Step: Equatable {
        case send
        case shutDown
        /// Close the connection as soon as the sent bytes have arrived.
        case linger
        case rest
    }

    /// The action of a call to finish writing.
    enum Finish {
        case wait
        case done
        case fail(StreamError)
    }

    /// The reason why writing is no longer possible; nil while it is possible.
    var writeFailure: StreamError? {
        if case .failed(let failure) = self.writing { return failure }
        return self.failure
    }

    /// Whether writers must wait.
    var isFull: Bool { self.pendingBytes > self.highWaterMark }

    /// Returns the reason why no new write is possible; nil if it is possible.
    func refusal(_ address: @autoclosure () -> StreamAddress) -> StreamError? {
        if let failure = self.writeFailure { return failure }
        guard case .open = self.writing else { return .closed(address()) }
        return nil
    }

    /// Starts a write of `count` bytes.
    mutating func write(_ count: Int, _ address: @autoclosure () -> StreamAddress) -> Write {
        if let refusal = self.refusal(address()) { return .fail(refusal) }
        let isFirst = self.pendingBytes == 0
        self.pendingBytes += count
        return isFirst ? .send : .queue
    }

    /// Records that a write of `count` bytes, which has waited, joins the queue.
    mutating func admit(_ count: Int) { self.pendingBytes += count }

    /// Records that bytes were sent.
    mutating func sent(_ count: Int) { self.pendingBytes -= count }

    /// Records that the socket is full, and that libuv waits until the socket accepts bytes.
    mutating func block() { self.isBlocked = true }

    /// Records that the socket has accepted the bytes that libuv held.
    mutating func unblock(_ count: Int) {
        self.isBlocked = false
        self.pendingBytes -= min(count, self.pendingBytes)
    }

    /// Records that no more bytes can be sent; reading continues.
    mutating func writeFailed(_ failure: StreamError) {
        self.writing = .failed(failure)
        self.pendingBytes = 0
    }

    /// Returns the next action for the queued bytes.
    ///
    /// The caller repeats the call until the result is `rest`, which means that nothing must be done now.
    mutating func nextStep() -> Step {
        if self.isBlocked || self.phase == .lingering || self.phase == .closed { return .rest }
        if self.pendingBytes > 0 { return .send }
        if self.phase == .draining {
            self.phase = .lingering
            return .linger
        }
        guard case .finishing = self.writing else { return .rest }
        self.writing = .shuttingDown
        return .shutDown
    }

    /// Starts to end writing for a task.
    mutating func finishWriting() -> Finish {
        if let failure = self.writeFailure { return .fail(failure) }
        switch self.writing {
        case .open:
            self.writing = .finishing
            return .wait
        case .finishing, .shuttingDown: return .wait
        case .finished, .failed: return .done
        }
    }

    /// Records that writing has ended.
    mutating func shutDownDone() { self.writing = .finished }
}

extension ConnectionState {
    /// The action of a call to close.
    enum Close: Equatable {
        case now
        /// Send the queued bytes, and make sure that all sent bytes arrive.
        case drain
        /// No action: the connection is closed, or is closing.
        case nothing
    }

    /// Starts to close the connection from this side; `failure` is the error of all later calls.
    mutating func close(_ failure: StreamError) -> Close {
        switch self.phase {
        case .connecting: return .now
        case .open:
            self.phase = .draining
            self.failure = failure
            return .drain
        case .draining, .lingering, .closed: return .nothing
        }
    }

    /// Records that the connection has ended, and returns whether it had not ended before.
    mutating func end(_ failure: StreamError) -> Bool {
        guard self.phase != .closed else { return false }
        self.phase = .closed
        self.failure = failure
        self.pendingBytes = 0
        return true
    }
}

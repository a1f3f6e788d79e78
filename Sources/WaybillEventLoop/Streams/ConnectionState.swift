/// Decides what a connection does next; it performs no I/O.
///
/// Reading and writing end apart from one another: the peer ends the one, `finishWriting` the other. A
/// connection that is closed while bytes wait sends them first (`draining`).
struct ConnectionState {
    enum Phase: Equatable {
        case connecting, open, draining, closed
    }

    private enum Writing {
        case open
        /// The direction ends once everything is sent.
        case finishing
        /// The system has been asked to end it.
        case shuttingDown
        case finished
        case failed(StreamError)
    }

    private(set) var phase: Phase
    private(set) var pull: PullState
    /// How many bytes wait to be sent, those included that libuv has.
    private(set) var pendingBytes = 0
    /// Whether libuv waits until the socket takes bytes again.
    private(set) var isBlocked = false
    private var hasPeerFinished = false
    private var writing = Writing.open
    /// Why the connection is closed, or is being closed.
    private var failure: StreamError?
    private let highWaterMark: Int

    /// - Parameters:
    ///   - isConnected: Whether the socket is connected already.
    ///   - highWaterMark: How many bytes may wait before writers do.
    init(isConnected: Bool, highWaterMark: Int) {
        self.phase = isConnected ? .open : .connecting
        // What a client sends is often there before its connection is accepted.
        self.pull = PullState(isReady: isConnected)
        self.highWaterMark = highWaterMark
    }

    /// The socket is connected.
    mutating func connected() { self.phase = .open }
}

extension ConnectionState {
    /// What a call to read does.
    enum Read {
        case pull
        case wait(watch: Bool)
        case end
        case fail(StreamError)
    }

    /// Whether a call to read is answered without waiting, as far as is known.
    var answersAtOnce: Bool { self.pull.isReady || self.hasPeerFinished || self.failure != nil }

    /// A task wants bytes.
    ///
    /// - Parameter address: The address for the error of a second reader.
    /// - Returns: What to do.
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

    /// The socket has become readable.
    mutating func becameReadable() -> PullState.Event { self.pull.becameReady() }

    /// Bytes were received; `more` says that the buffer was filled.
    mutating func received(more: Bool) { self.pull.took(more: more) }

    /// There was nothing to receive.
    mutating func receivedNothing() { self.pull.tookNothing() }

    /// The peer has finished writing.
    mutating func peerFinished() {
        self.hasPeerFinished = true
        self.pull.took(more: false)
    }

    /// The task that waited for bytes no longer does.
    mutating func cancelRead() { self.pull.cancel() }
}

extension ConnectionState {
    /// What a call to write does.
    enum Write {
        /// Write at once; nothing waits.
        case send
        /// Add to what waits.
        case queue
        case fail(StreamError)
    }

    /// What happens to bytes that wait, and to what waits for them.
    enum Step: Equatable {
        case send
        case shutDown
        case close
        case rest
    }

    /// What a call to finish writing does.
    enum Finish {
        case wait
        case done
        case fail(StreamError)
    }

    /// Why nothing can be written any more, if so.
    var writeFailure: StreamError? {
        if case .failed(let failure) = self.writing { return failure }
        return self.failure
    }

    /// Whether writers have to wait.
    var isFull: Bool { self.pendingBytes > self.highWaterMark }

    /// A task writes.
    ///
    /// - Parameters:
    ///   - count: How many bytes.
    ///   - address: The address for an error.
    /// - Returns: What to do.
    mutating func write(_ count: Int, _ address: @autoclosure () -> StreamAddress) -> Write {
        if let failure = self.writeFailure { return .fail(failure) }
        guard case .open = self.writing else { return .fail(.closed(address())) }
        let isFirst = self.pendingBytes == 0
        self.pendingBytes += count
        return isFirst ? .send : .queue
    }

    /// Bytes were sent.
    mutating func sent(_ count: Int) { self.pendingBytes -= count }

    /// The socket takes no more: libuv waits until it does.
    mutating func block() { self.isBlocked = true }

    /// The socket has taken the bytes that libuv had.
    mutating func unblock(_ count: Int) {
        self.isBlocked = false
        self.pendingBytes -= min(count, self.pendingBytes)
    }

    /// Nothing more can be sent; reading goes on.
    mutating func writeFailed(_ failure: StreamError) {
        self.writing = .failed(failure)
        self.pendingBytes = 0
    }

    /// What to do now about what waits; asked again until it rests.
    mutating func nextStep() -> Step {
        if self.isBlocked || self.phase == .closed { return .rest }
        if self.pendingBytes > 0 { return .send }
        if self.phase == .draining { return .close }
        guard case .finishing = self.writing else { return .rest }
        self.writing = .shuttingDown
        return .shutDown
    }

    /// A task wants to end the direction of writing.
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

    /// The direction of writing has ended.
    mutating func shutDownDone() { self.writing = .finished }
}

extension ConnectionState {
    /// What a call to close does.
    enum Close: Equatable {
        case now
        /// Send what waits first.
        case drain
        /// It is closed, or is closing.
        case nothing
    }

    /// This side closes the connection.
    ///
    /// - Parameter failure: The error of calls from now on.
    /// - Returns: What to do.
    mutating func close(_ failure: StreamError) -> Close {
        switch self.phase {
        case .connecting: return .now
        case .open where self.pendingBytes == 0: return .now
        case .open:
            self.phase = .draining
            self.failure = failure
            return .drain
        case .draining, .closed: return .nothing
        }
    }

    /// The connection ends.
    ///
    /// - Returns: False if it has ended before.
    mutating func end(_ failure: StreamError) -> Bool {
        guard self.phase != .closed else { return false }
        self.phase = .closed
        self.failure = failure
        self.pendingBytes = 0
        return true
    }
}

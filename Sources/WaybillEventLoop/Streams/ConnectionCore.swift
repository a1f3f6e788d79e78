internal import CLibUV
internal import Synchronization

/// The core of a connection.
///
/// The core performs the actions that ``ConnectionState`` decides. The compiler cannot check `Sendable` here.
/// Proof: only the loop's thread accesses the variables, and other callers use ``LoopCore/runOnThread(_:)``.
/// While the connection is open, the loop has a reference to the connection, so that a shutdown of the loop
/// can end the connection.
@safe
final class ConnectionCore: LoopStream, @unchecked Sendable {
    let loop: LoopCore
    let options: StreamOptions
    let peer: StreamAddress
    /// Whether the connection has ended; any thread may read it.
    let hasEnded = Atomic<Bool>(false)

    var state: ConnectionState
    /// The handle; nil before the connection is opened and after the connection has ended.
    var handle: StreamHandle?
    var descriptor: Int32 = -1
    /// The user at the other end of a Unix socket.
    private(set) var peerUser: UInt32?
    var queue = WriteQueue()
    /// Whether the last read has filled its buffer.
    var receivesMuch = false
    var reader: StreamWaiter<[UInt8]?>?
    /// The writes that wait until the queue is not full, in the order of their calls.
    var writers: [WaitingWrite] = []
    var finishers: [StreamWaiter<Void>] = []
    private var connector: StreamWaiter<Void>?
    private var closers: [StreamWaiter<Void>] = []
    private var isClosed = false
    private var lastActivity: Int64 = 0
    /// The deadline of a connection that this side has closed.
    var closeDeadline = Deadline.never
    /// The timer of the connect timeout, the idle timeout or the close timeout.
    ///
    /// Only one of these timeouts runs at a time.
    var timer: ScheduledTimer?

    /// Creates a connection that is not open yet.
    init(on loop: LoopCore, peer: StreamAddress, options: StreamOptions, isConnected: Bool) {
        self.loop = loop
        self.options = options
        self.peer = peer
        self.state = ConnectionState(isConnected: isConnected, highWaterMark: options.highWaterMark)
    }

    /// Takes ownership of an accepted socket, and closes the socket on failure.
    func open(_ descriptor: Int32, isUnix: Bool) throws(StreamError) {
        do throws(StreamError) {
            let handle = try self.makeHandle(isUnix: isUnix)
            let status = handle.open(descriptor)
            if status < 0 {
                let failure = StreamError.system(status, action: "accept a connection", address: self.peer)
                self.end(failure)
                throw failure
            }
        } catch {
            StreamSocket.close(descriptor)
            throw error
        }
        self.becomeOpen()
    }

    /// Connects, and finishes the waiter when the connection is open or has failed.
    func connect(to address: SocketAddress, until deadline: Deadline, _ waiter: StreamWaiter<Void>) {
        self.connector = waiter
        do throws(StreamError) {
            let status = try self.makeHandle(isUnix: address.isUnix)
                .connect(to: address) { self.connected($0) }
            if status < 0 { return self.end(self.connectError(status)) }
            self.timer = self.loop.startStreamTimer(at: deadline) {
                self.end(self.connectError(Int32(UV_ETIMEDOUT.rawValue)))
            }
        } catch {
            waiter.finish(.failure(error))
        }
    }

    private func connected(_ status: Int32) {
        guard self.state.phase == .connecting else { return }
        if status < 0 { return self.end(self.connectError(status)) }
        self.timer.take()?.cancel()
        self.state.connected()
        self.becomeOpen()
        self.connector.take()?.finish(.success(()))
    }

    /// Cancels connecting; does nothing if the socket is connected already.
    func cancelConnecting() {
        if self.state.phase == .connecting { self.end(.cancelled(self.peer)) }
    }

    private func connectError(_ status: Int32) -> StreamError {
        .system(status, action: "connect to \(self.peer)", address: self.peer)
    }

    private func makeHandle(isUnix: Bool) throws(StreamError) -> StreamHandle {
        guard self.loop.admitsStreams else { throw .shutDown(self.loop, self.peer) }
        do throws(EventLoopError) {
            let handle = try StreamHandle(on: self.loop.uv, isUnix: isUnix) { self.becameReadable() }
            self.handle = handle
            self.loop.add(self)
            return handle
        } catch {
            throw StreamError(.system, message: error.message, address: self.peer)
        }
    }

    private func becomeOpen() {
        guard let handle = self.handle else { return }
        self.descriptor = handle.descriptor
        handle.setNoDelay(self.options.sendsSmallWritesAtOnce)
        if let silence = self.options.keepAliveTime { handle.keepAlive(after: silence) }
        if handle.isUnix { self.peerUser = StreamSocket.peerUser(of: self.descriptor) }
        self.noteActivity()
        self.startIdleTimer()
    }
}

extension ConnectionCore {
    /// Records that bytes were sent or received, which restarts the idle timeout.
    func noteActivity() {
        if self.options.idleTimeout != nil { self.lastActivity = self.loop.configuration.time.now }
    }

    private func startIdleTimer() {
        guard let timeout = self.options.idleTimeout else { return }
        let (due, overflows) = self.lastActivity.addingReportingOverflow(timeout.wholeNanoseconds)
        let deadline = Deadline(nanoseconds: overflows ? .max : due)
        self.timer = self.loop.startStreamTimer(at: deadline) {
            let isIdle = self.loop.configuration.time.now - self.lastActivity >= timeout.wholeNanoseconds
            guard isIdle else { return self.startIdleTimer() }
            let message = "the connection was closed because no byte was sent or received for \(timeout)"
            self.end(StreamError(.idle, message: message, address: self.peer))
        }
    }

    /// Sends the queued bytes and then closes the connection; reading ends at once.
    func close() {
        switch self.state.close(.closed(self.peer)) {
        case .nothing: break
        case .now: self.end(.closed(self.peer))
        case .drain:
            self.handle?.stopReading()
            self.reader.take()?.finish(.failure(.closed(self.peer)))
            self.closeDeadline = self.loop.deadline(after: self.options.closeTimeout)
            self.setTimer(at: self.closeDeadline) { $0.abort() }
            self.flush()
        }
    }

    /// Replaces the timer of the connection.
    func setTimer(at deadline: Deadline, _ body: @escaping @Sendable (ConnectionCore) -> Void) {
        self.timer.take()?.cancel()
        self.timer = self.loop.startStreamTimer(at: deadline) { body(self) }
    }

    /// Closes the connection and drops the queued bytes.
    func abort() {
        if self.state.pendingBytes > 0 { self.handle?.resetOnClose() }
        self.end(.closed(self.peer))
    }

    func endForShutDown() { self.end(.shutDown(self.loop, self.peer)) }

    /// Ends the connection: fails every waiting task, and closes the handle.
    func end(_ failure: StreamError) {
        guard self.state.end(failure) else { return }
        self.hasEnded.store(true, ordering: .releasing)
        self.timer.take()?.cancel()
        self.loop.remove(self)
        self.queue.removeAll()
        self.reader.take()?.finish(.failure(failure))
        self.connector.take()?.finish(.failure(failure))
        self.failWriters(failure)
        guard let handle = self.handle.take() else { return self.didClose() }
        self.descriptor = -1
        self.loop.closeStream({ handle.close(onClosed: $0) }, onClosed: { self.didClose() })
    }

    private func didClose() {
        self.isClosed = true
        let closers = self.closers
        self.closers = []
        for closer in closers { closer.finish(.success(())) }
    }

    /// Finishes the waiter when the socket is closed.
    func waitUntilClosed(_ waiter: StreamWaiter<Void>) {
        if self.isClosed { waiter.finish(.success(())) } else { self.closers.append(waiter) }
    }

    /// Removes a waiter whose task was cancelled.
    func forget(_ waiter: StreamWaiter<Void>) {
        self.writers.removeAll { $0.waiter === waiter }
        self.finishers.removeAll { $0 === waiter }
        self.closers.removeAll { $0 === waiter }
    }
}

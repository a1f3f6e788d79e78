internal import Logging
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The core of a listener: a listening socket, and the task that waits for a connection.
///
/// The socket is polled, and a connection is accepted only when a task asks for a connection. `uv_listen`
/// would accept connections earlier. When no descriptor is left, `uv_listen` closes the connections in the
/// backlog. Once its reserve descriptor is also in use, `uv_listen` polls again and again without success.
/// This type stops accepting for a while instead.
///
/// The compiler cannot check `Sendable` here. Proof: only the loop's thread accesses the variables, and other
/// callers use ``LoopCore/runOnThread(_:)``.
@safe
final class ListenerCore: LoopStream, @unchecked Sendable {
    typealias Outcome = Result<ConnectionCore?, StreamError>

    /// The time for which accepting pauses when the system has no descriptor or memory left.
    private static let pause = Duration.milliseconds(50)

    let loop: LoopCore
    let address: StreamAddress
    let options: StreamOptions
    /// Whether the listener has ended; any thread may read it.
    let hasEnded = Atomic<Bool>(false)

    private let descriptor: Int32
    private let file: UnixSocketFile?
    private var handle: PollHandle?
    private var state = PullState(isReady: false)
    private var waiter: StreamWaiter<ConnectionCore?>?
    private var pauseTimer: ScheduledTimer?
    /// Whether the cause of the pauses since the last accepted connection has been logged.
    private var hasLoggedPause = false
    /// The final outcome of all accepts; nil while the listener is open.
    ///
    /// The outcome is a nil connection if this side closed the listener.
    private var end: Outcome?

    /// Creates a listener that takes ownership of a listening socket.
    init(
        on loop: LoopCore,
        _ descriptor: Int32,
        file: UnixSocketFile?,
        address: StreamAddress,
        options: StreamOptions
    ) {
        self.loop = loop
        self.descriptor = descriptor
        self.file = file
        self.address = address
        self.options = options
    }

    /// Opens the listener, on the loop's thread, or closes the socket on failure.
    func open() throws(StreamError) {
        do throws(StreamError) {
            guard self.loop.admitsStreams else { throw .shutDown(self.loop, self.address) }
            do throws(EventLoopError) {
                self.handle = try PollHandle(on: self.loop.uv, descriptor: self.descriptor) {
                    self.becameReadable()
                }
            } catch {
                throw StreamError(.system, message: error.message, address: self.address)
            }
            self.loop.add(self)
        } catch {
            self.discard()
            throw error
        }
    }

    /// Closes the socket of a listener that was never opened; does nothing to an opened listener.
    func discard() {
        guard self.handle == nil, self.end == nil else { return }
        self.end = .success(nil)
        self.hasEnded.store(true, ordering: .releasing)
        self.file?.remove()
        StreamSocket.close(self.descriptor)
    }

    /// Returns, on the loop's thread, the outcome of an accept that does not have to wait, or nil.
    func acceptAtOnce() -> Outcome? {
        if let end = self.end { return end }
        guard self.state.isReady, !self.state.isWaiting else { return nil }
        return self.accept()
    }

    /// Starts an accept, whose outcome finishes the waiter at once or later.
    func accept(_ waiter: StreamWaiter<ConnectionCore?>) {
        if let outcome = self.acceptAtOnce() { return waiter.finish(outcome) }
        switch self.state.call() {
        case .wait(let watch):
            self.waiter = waiter
            guard watch else { return }
            // During a pause, the descriptor is not watched. Watching starts again at the end of the pause if
            // a task waits.
            if self.pauseTimer == nil { self.handle?.start() } else { self.state.pause() }
        case .refuse:
            let message = "another task waits for connections of this listener"
            waiter.finish(.failure(StreamError(.alreadyWaiting, message: message, address: self.address)))
        case .pull: preconditionFailure("internal error: a listener without new connections reported one")
        }
    }

    /// Removes a waiter whose task was cancelled.
    func forget(_ waiter: StreamWaiter<ConnectionCore?>) {
        guard self.waiter === waiter else { return }
        self.waiter = nil
        self.state.cancel()
    }

    private func becameReadable() {
        self.loop.whilePolling {
            guard self.end == nil else { return }
            switch self.state.becameReady() {
            case .unwatch: self.handle?.stop()
            case .pull:
                if let outcome = self.accept() { self.waiter.take()?.finish(outcome) }
            }
        }
    }

    /// Accepts one connection, and returns the outcome for the task, or nil if no connection is available.
    private func accept() -> Outcome? {
        while true {
            switch StreamSocket.accept(self.descriptor) {
            case .success(let accepted):
                self.state.took(more: true)
                self.hasLoggedPause = false
                let peer = accepted.peer
                let core = ConnectionCore(
                    on: self.loop,
                    peer: peer.address,
                    options: self.options,
                    isConnected: true
                )
                return Result { () throws(StreamError) in
                    try core.open(accepted.descriptor, isUnix: peer.isUnix)
                    return core
                }
            case .failure(let refusal):
                switch -refusal.status {
                case EAGAIN: self.state.tookNothing()
                case EBADF, EINVAL, ENOTSOCK:
                    // Other code of the program has closed the descriptor.
                    self.end(
                        .failure(.system(refusal.status, action: "accept connections", address: self.address))
                    )
                    return self.end
                // The connection failed before it was accepted. The backlog may contain another connection.
                case ECONNABORTED, EINTR, EPROTO, ENOPROTOOPT, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH:
                    continue
                // Each other failure may stay, and an immediate repetition would block the loop.
                default: self.pause(refusal.status)
                }
                return nil
            }
        }
    }

    /// Stops accepting for a while, during which connections wait in the backlog.
    private func pause(_ status: Int32) {
        self.state.pause()
        self.handle?.stop()
        guard self.pauseTimer == nil else { return }
        if !self.hasLoggedPause {
            self.hasLoggedPause = true
            let failure = StreamError.system(status, action: "accept connections", address: self.address)
            self.loop.configuration.logger.warning("\(failure)", metadata: ["address": "\(self.address)"])
        }
        self.pauseTimer = self.loop.startStreamTimer(at: self.loop.deadline(after: Self.pause)) {
            self.pauseTimer = nil
            if self.state.resume() { self.handle?.start() }
        }
    }

    /// Stops listening, so that a waiting task receives nil, the end of the connections.
    func close() { self.end(.success(nil)) }

    func endForShutDown() { self.end(.failure(.shutDown(self.loop, self.address))) }

    private func end(_ end: Outcome) {
        guard self.end == nil else { return }
        self.end = end
        self.hasEnded.store(true, ordering: .releasing)
        self.loop.remove(self)
        self.pauseTimer.take()?.cancel()
        self.file?.remove()
        self.waiter.take()?.finish(end)
        guard let handle = self.handle.take() else { return }
        self.loop.closeStream { handle.close(onClosed: $0) }
        // libuv no longer polls a closing handle. Close the socket now, so that the system refuses clients.
        StreamSocket.close(self.descriptor)
    }
}

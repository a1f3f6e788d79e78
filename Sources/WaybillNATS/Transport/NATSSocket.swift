#if NATS
internal import CNATS
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The socket of a connection, which the connection's thread polls.
///
/// libnats reports the descriptor and the events to watch. Only the connection's thread connects, reads,
/// writes and closes, so most reports come from that thread. Another thread may only report that bytes wait
/// to be written.
@safe
final class NATSSocket: Sendable {
    private struct State {
        var descriptor: Int32?
        var isWriteWanted = false
    }

    private let state = Locked(State())
    private let isCalled = Atomic(false)
    private let isWaiting = Atomic(false)
    private let wakeUps: (reader: Int32, writer: Int32)

    init() throws(RoutingError) {
        var ends: [2 of Int32] = [-1, -1]
        var places = ends.mutableSpan
        // `pipe` writes two descriptors, and the array has two elements.
        let status = unsafe places.withUnsafeMutableBufferPointer { unsafe pipe($0.baseAddress) }
        guard status == 0 else {
            throw RoutingError(
                .unreachable,
                message:
                    "the process has no file descriptor left for a connection: raise the limit (ulimit -n)"
            )
        }
        self.wakeUps = (ends[0], ends[1])
        for end in [ends[0], ends[1]] {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        _ = close(self.wakeUps.reader)
        _ = close(self.wakeUps.writer)
    }

    /// Whether the socket is connected.
    var isAttached: Bool { self.state.withLock { $0.descriptor != nil } }

    /// Whether bytes wait to be written.
    var isWriteWanted: Bool { self.state.withLock { $0.isWriteWanted } }

    /// Shuts the socket down in both directions.
    func shutDown() {
        self.state.withLock { state in
            if let descriptor = state.descriptor { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Signals the thread, from any thread, and wakes it up if it waits.
    func wakeUp() {
        self.isCalled.store(true, ordering: .sequentiallyConsistent)
        guard self.isWaiting.exchange(false, ordering: .sequentiallyConsistent) else { return }
        // The pipe is full only when many wake-ups have not been read. In that case no further wake-up is
        // needed.
        _ = unsafe write(self.wakeUps.writer, [1], 1)
    }

    /// Returns whether the thread has been signalled since the last call.
    func takeCall() -> Bool { self.isCalled.exchange(false, ordering: .acquiringAndReleasing) }

    /// Waits until the socket is ready or the thread is signalled, or only polls for zero milliseconds.
    ///
    /// The socket is ready when it is readable. If bytes wait to be written, it is also ready when it is
    /// writable.
    func wait(_ milliseconds: Int32) -> (canRead: Bool, canWrite: Bool) {
        var timeout = milliseconds
        if timeout > 0 {
            self.isWaiting.store(true, ordering: .sequentiallyConsistent)
            if self.isCalled.load(ordering: .sequentiallyConsistent) {
                self.isWaiting.store(false, ordering: .sequentiallyConsistent)
                timeout = 0
            }
        }
        let (descriptor, isWriteWanted) = self.state.withLock { ($0.descriptor, $0.isWriteWanted) }
        // `poll` ignores a negative descriptor.
        var polled: [2 of pollfd] = [
            pollfd(
                fd: descriptor ?? -1,
                events: Int16(POLLIN | (isWriteWanted ? POLLOUT : 0)),
                revents: 0
            ),
            pollfd(fd: self.wakeUps.reader, events: Int16(POLLIN), revents: 0),
        ]
        var places = polled.mutableSpan
        // The array has two elements, which is the count that is passed.
        _ = unsafe places.withUnsafeMutableBufferPointer { unsafe poll($0.baseAddress, 2, timeout) }
        if timeout > 0 { self.isWaiting.store(false, ordering: .sequentiallyConsistent) }
        // If a wake-up comes too late for this call, the next call returns early and reads the wake-up.
        if polled[1].revents != 0 {
            var bytes: (UInt64, UInt64) = (0, 0)
            _ = unsafe read(self.wakeUps.reader, &bytes, 16)
        }
        let happened = Int32(polled[0].revents)
        // Report an error as readable, because the next read then returns the error.
        return (happened & ~Int32(POLLOUT) != 0, happened & Int32(POLLOUT) != 0)
    }

    // The reports of libnats.

    fileprivate func attach(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        Self.limitPatience(descriptor)
        self.state.withLock { $0.descriptor = descriptor }
    }

    /// Makes the system close a connection on which no packets arrive.
    ///
    /// With TLS, libnats would otherwise wait for the end of a partial record as long as the socket is open.
    private static func limitPatience(_ descriptor: Int32) {
        func set(_ level: Int32, option: Int32, value: Int32) {
            var value = value
            // The size passed to the system is the size of the value.
            _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        set(SOL_SOCKET, option: SO_KEEPALIVE, value: 1)
        #if os(Linux)
        let protocolLevel = Int32(IPPROTO_TCP)
        set(protocolLevel, option: TCP_KEEPIDLE, value: 1)
        set(protocolLevel, option: TCP_KEEPINTVL, value: 1)
        set(protocolLevel, option: TCP_KEEPCNT, value: 3)
        set(protocolLevel, option: TCP_USER_TIMEOUT, value: 3000)
        #endif
    }

    fileprivate func detach() { self.state.withLock { $0 = State() } }

    fileprivate func wantWrite(_ isWanted: Bool) {
        self.state.withLock { $0.isWriteWanted = isWanted }
        if isWanted { self.wakeUp() }
    }
}

extension NATSSocket {
    /// Makes libnats use this socket object for a connection.
    func configure(_ options: OpaquePointer?) -> natsStatus {
        // This object outlives the connection, because the thread of the connection holds both.
        unsafe natsOptions_SetEventLoop(
            options,
            CallbackContext.borrowing(self),
            { data, socket, _, descriptor in
                unsafe data?.pointee = socket
                unsafe NATSSocket.from(socket)?.attach(descriptor)
                return NATS_OK
            },
            { socket, isWanted in
                // The thread watches for input as long as the descriptor is attached.
                if !isWanted { unsafe NATSSocket.from(socket)?.detach() }
                return NATS_OK
            },
            { socket, isWanted in
                unsafe NATSSocket.from(socket)?.wantWrite(isWanted)
                return NATS_OK
            },
            { socket in
                unsafe NATSSocket.from(socket)?.detach()
                return NATS_OK
            }
        )
    }

    private static func from(_ socket: UnsafeMutableRawPointer?) -> NATSSocket? {
        unsafe socket.map { unsafe CallbackContext.object(of: $0) }
    }
}
#endif

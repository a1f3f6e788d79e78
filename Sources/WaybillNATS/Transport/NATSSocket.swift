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

/// The socket of a connection as its thread polls it.
///
/// libnats says which descriptor there is and what is to be watched. It does so on the thread itself, which
/// is the one that connects, reads, writes and closes; only that something waits to be written is said by
/// others as well.
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
        // Two descriptors are written to two places.
        let status = unsafe places.withUnsafeMutableBufferPointer { unsafe pipe($0.baseAddress) }
        guard status == 0 else {
            throw RoutingError(
                .unreachable,
                message: "the process has no file descriptor left for a connection"
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

    /// Whether there is a connection.
    var isAttached: Bool { self.state.withLock { $0.descriptor != nil } }

    /// Whether bytes wait to be written.
    var isWriteWanted: Bool { self.state.withLock { $0.isWriteWanted } }

    /// Ends the connection for both sides: nothing is written any more, and reading comes to an end.
    func shutDown() {
        self.state.withLock { state in
            if let descriptor = state.descriptor { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Calls the thread, and wakes it up if it waits; from any thread.
    func wakeUp() {
        self.isCalled.store(true, ordering: .sequentiallyConsistent)
        guard self.isWaiting.exchange(false, ordering: .sequentiallyConsistent) else { return }
        // Fails only if there are many that have not been read.
        _ = unsafe write(self.wakeUps.writer, [1], 1)
    }

    /// Whether the thread was called since it has asked last.
    func takeCall() -> Bool { self.isCalled.exchange(false, ordering: .acquiringAndReleasing) }

    /// Waits until the socket can be read, or written if that is wanted, or the thread is called.
    ///
    /// - Parameter milliseconds: how long at most; zero looks and does not wait.
    /// - Returns: what the socket can do.
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
        // A descriptor below zero is not polled.
        var polled: [2 of pollfd] = [
            pollfd(
                fd: descriptor ?? -1,
                events: Int16(POLLIN | (isWriteWanted ? POLLOUT : 0)),
                revents: 0
            ),
            pollfd(fd: self.wakeUps.reader, events: Int16(POLLIN), revents: 0),
        ]
        var places = polled.mutableSpan
        // There are as many as it is said.
        _ = unsafe places.withUnsafeMutableBufferPointer { unsafe poll($0.baseAddress, 2, timeout) }
        if timeout > 0 { self.isWaiting.store(false, ordering: .sequentiallyConsistent) }
        // One that comes too late for this call ends the next one for nothing, and is read then.
        if polled[1].revents != 0 {
            var bytes: (UInt64, UInt64) = (0, 0)
            _ = unsafe read(self.wakeUps.reader, &bytes, 16)
        }
        let happened = Int32(polled[0].revents)
        // An error is read.
        return (happened & ~Int32(POLLOUT) != 0, happened & Int32(POLLOUT) != 0)
    }

    // What libnats says.

    fileprivate func attach(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        Self.limitPatience(descriptor)
        self.state.withLock { $0.descriptor = descriptor }
    }

    /// Has the system give up a path on which nothing arrives: with TLS, libnats waits in the middle of a
    /// record for as long as the socket is there.
    private static func limitPatience(_ descriptor: Int32) {
        func set(_ level: Int32, _ option: Int32, _ value: Int32) {
            var value = value
            // The value has as many bytes as it is said.
            _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        #if os(Linux)
        let protocolLevel = Int32(IPPROTO_TCP)
        set(protocolLevel, TCP_KEEPIDLE, 1)
        set(protocolLevel, TCP_KEEPINTVL, 1)
        set(protocolLevel, TCP_KEEPCNT, 3)
        set(protocolLevel, TCP_USER_TIMEOUT, 3000)
        #endif
    }

    fileprivate func detach() { self.state.withLock { $0 = State() } }

    fileprivate func wantWrite(_ isWanted: Bool) {
        self.state.withLock { $0.isWriteWanted = isWanted }
        if isWanted { self.wakeUp() }
    }
}

extension NATSSocket {
    /// Has a connection be this socket's.
    func configure(_ options: OpaquePointer?) -> natsStatus {
        // The object lives for longer than the connection: their thread has both.
        unsafe natsOptions_SetEventLoop(
            options,
            Unmanaged.passUnretained(self).toOpaque(),
            { data, socket, _, descriptor in
                unsafe data?.pointee = socket
                unsafe NATSSocket.from(socket)?.attach(descriptor)
                return NATS_OK
            },
            { socket, isWanted in
                // It is watched as long as it is there.
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
        unsafe socket.map { unsafe Unmanaged<NATSSocket>.fromOpaque($0).takeUnretainedValue() }
    }
}
#endif

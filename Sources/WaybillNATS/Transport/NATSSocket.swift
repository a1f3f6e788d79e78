#if NATS
internal import CNATS
internal import WaybillEventLoop

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The socket of one client of libnats, which the connection's thread polls.
///
/// libnats reports the descriptor and the events to watch. The thread that connects the client reports the
/// descriptor. After that, only the connection's thread reads, writes and closes. Another thread may only
/// report that bytes wait to be written.
@safe
final class NATSSocket: Sendable {
    private struct State {
        var descriptor: Int32?
        var isWriteWanted = false
    }

    private let state = Locked(State())
    private let poller: NATSPoller

    init(polledBy poller: NATSPoller) { self.poller = poller }

    /// The descriptor, and whether to watch for the possibility to write.
    var watched: (descriptor: Int32?, isWriteWanted: Bool) {
        self.state.withLock { ($0.descriptor, $0.isWriteWanted) }
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
        if isWanted { self.poller.wakeUp() }
    }
}

extension NATSSocket {
    /// Makes libnats report the socket of a client to this object.
    ///
    /// The caller must keep this object alive until libnats has closed the client.
    func configure(_ options: OpaquePointer?) -> natsStatus {
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

internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// System calls for sockets for which libuv has no suitable function.
enum StreamSocket {
    /// Makes the process ignore `SIGPIPE`.
    ///
    /// Writing to a closed peer is then an error and does not end the process. libuv writes with `write`,
    /// which has no `MSG_NOSIGNAL` option. Waybill therefore ignores `SIGPIPE` in the whole process before it
    /// opens the first stream, unless the program has set another action.
    static let ignoresBrokenPipe: Void = {
        var action = sigaction()
        guard unsafe sigaction(SIGPIPE, nil, &action) == 0 else { return }
        #if canImport(Darwin)
        let handler = unsafe action.__sigaction_u.__sa_handler
        #else
        let handler = unsafe action.__sigaction_handler.sa_handler
        #endif
        // The default action is represented by a null pointer.
        if handler == nil { _ = signal(SIGPIPE, SIG_IGN) }
    }()

    /// Closes a descriptor that no handle owns.
    static func close(_ descriptor: Int32) {
        #if canImport(Darwin)
        _ = Darwin.close(descriptor)
        #else
        _ = Glibc.close(descriptor)
        #endif
    }

    /// Opens a listening socket, or closes the descriptor again and removes its file if a system call fails.
    ///
    /// `address` is the address that the user wrote, for errors.
    static func listen(
        at socketAddress: SocketAddress,
        _ address: StreamAddress,
        _ options: StreamOptions
    ) throws(StreamError) -> Int32 {
        let descriptor = waybill_stream_socket(socketAddress.family)
        var isFileNew = false
        try Self.check(descriptor, address)
        do throws(StreamError) {
            if !socketAddress.isUnix {
                var isOn: Int32 = 1
                let size = socklen_t(MemoryLayout<Int32>.size)
                // Without this option, a restarted server could not use its port again at once.
                let status = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, size)
                try Self.check(status, address)
            }
            try Self.check(Self.bind(descriptor, to: socketAddress), address)
            // Set the permissions now, because no client can connect to the socket before the socket listens.
            if case .unix(let path) = address {
                isFileNew = true
                let mode = mode_t(truncatingIfNeeded: options.permissions)
                try Self.check(unsafe chmod(path, mode), address)
            }
            #if canImport(Darwin)
            try Self.check(Darwin.listen(descriptor, Int32(clamping: options.backlog)), address)
            #else
            try Self.check(Glibc.listen(descriptor, Int32(clamping: options.backlog)), address)
            #endif
            return descriptor
        } catch {
            if isFileNew, case .unix(let path) = address { _ = unsafe unlink(path) }
            Self.close(descriptor)
            throw error
        }
    }

    private static func bind(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        unsafe address.withPointer { pointer in
            #if canImport(Darwin)
            unsafe Darwin.bind(descriptor, pointer, address.length)
            #else
            unsafe Glibc.bind(descriptor, pointer, address.length)
            #endif
        }
    }

    /// Returns the address that the system has assigned to a socket.
    static func localAddress(of descriptor: Int32) -> SocketAddress? {
        unsafe SocketAddress { unsafe getsockname(descriptor, $0, $1) }
    }

    /// Accepts a connection from a listening socket.
    static func accept(_ descriptor: Int32) -> Result<(descriptor: Int32, peer: SocketAddress), Refusal> {
        var accepted: Int32 = -1
        let peer = unsafe SocketAddress { address, length in
            accepted = unsafe waybill_accept(descriptor, address, length)
            return accepted
        }
        guard let peer else { return .failure(Refusal(status: -errno)) }
        return .success((accepted, peer))
    }

    /// The reason why the system has no connection to accept.
    struct Refusal: Error {
        /// A negated `errno`.
        let status: Int32
    }

    /// Returns the user of the peer on a Unix socket.
    static func peerUser(of descriptor: Int32) -> UInt32? {
        var user: UInt32 = 0
        return unsafe waybill_peer_user(descriptor, &user) == 0 ? user : nil
    }

    private static func check(_ status: Int32, _ address: StreamAddress) throws(StreamError) {
        guard status < 0 else { return }
        let number = errno
        let failure = StreamError.system(-number, action: "listen at \(address)", address: address)
        // For a client, `ENOENT` means that no server listens. For a server, these three errors mean that the
        // path or the address does not exist.
        guard [ENOENT, ENOTDIR, EADDRNOTAVAIL].contains(number) else { throw failure }
        throw StreamError(.invalidAddress, message: failure.message, address: address, systemError: number)
    }
}

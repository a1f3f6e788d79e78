internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Resolves a host to socket addresses.
///
/// An IP address is converted at once. The threads of libuv resolve names.
@safe
final class HostResolver: LoopStream, @unchecked Sendable {
    // Only the loop's thread accesses the variables.
    private let loop: LoopCore
    private let address: StreamAddress
    private var waiter: StreamWaiter<[SocketAddress]>?
    private var request: UnsafeMutablePointer<uv_getaddrinfo_t>?
    private var timer: ScheduledTimer?

    private init(_ loop: LoopCore, address: StreamAddress) {
        self.loop = loop
        self.address = address
    }

    /// Resolves an address to one or more socket addresses, in the order to try them.
    static nonisolated(nonsending) func resolve(
        _ address: StreamAddress,
        on loop: LoopCore,
        until deadline: Deadline
    ) async throws(StreamError) -> [SocketAddress] {
        switch address {
        case .unix(let path): return [try SocketAddress(path: path)]
        case .tcp(let host, let port):
            guard UInt16(exactly: port) != nil else {
                let message = "the port must be a number from 0 to 65535, not \(port)"
                throw StreamError(.invalidAddress, message: message, address: address)
            }
            guard !host.utf8.contains(0) else {
                // The system would resolve only the part of the name before this byte.
                let message = "the host contains a zero byte"
                throw StreamError(.invalidAddress, message: message, address: address)
            }
            if let numeric = SocketAddress(ip: host, port: port) { return [numeric] }
            let resolver = HostResolver(loop, address: address)
            return try await StreamWaiter<[SocketAddress]>.wait(on: loop, for: address) { waiter in
                resolver.start(host, port, until: deadline, waiter)
            } forget: { _ in
                resolver.cancel(.cancelled(address))
            }.get()
        }
    }

    private func start(
        _ host: String,
        _ port: Int,
        until deadline: Deadline,
        _ waiter: StreamWaiter<[SocketAddress]>
    ) {
        guard self.loop.admitsStreams else {
            return waiter.finish(.failure(.shutDown(self.loop, self.address)))
        }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        let status = unsafe LoopRequest.start(UV_GETADDRINFO) {
            self.finish($0)
        } begin: { memory in
            let request = unsafe memory.assumingMemoryBound(to: uv_getaddrinfo_t.self)
            unsafe self.request = request
            let status = ProcessExit.unlessBegun {
                unsafe uv_getaddrinfo(
                    self.loop.uv.pointer,
                    request,
                    { request, status, _ in unsafe LoopRequest.finish(request, status) },
                    host,
                    String(port),
                    &hints
                )
            }
            return status ?? UV_ECANCELED.rawValue
        }
        if status < 0 {
            // The memory of the request is freed already.
            unsafe self.request = nil
            return waiter.finish(.failure(self.error(status)))
        }
        self.waiter = waiter
        self.loop.add(self)
        self.loop.lookupStarted()
        self.timer = self.loop.startStreamTimer(at: deadline) {
            self.cancel(self.error(Int32(UV_ETIMEDOUT.rawValue)))
        }
    }

    private func finish(_ status: Int32) {
        // The request's memory is freed when this call has returned.
        let found = unsafe self.request?.pointee.addrinfo
        unsafe self.request = nil
        defer {
            unsafe uv_freeaddrinfo(found)
            self.loop.handleClosed()
        }
        self.loop.remove(self)
        self.timer?.cancel()
        if status < 0 { return self.finish(.failure(self.error(status))) }
        var addresses: [SocketAddress] = []
        var entry = unsafe found
        while let info = unsafe entry?.pointee {
            if let address = unsafe info.ai_addr {
                addresses.append(unsafe SocketAddress(copying: address, length: info.ai_addrlen))
            }
            unsafe entry = info.ai_next
        }
        let isEmpty = addresses.isEmpty
        self.finish(isEmpty ? .failure(self.error(Int32(UV_EAI_NONAME.rawValue))) : .success(addresses))
    }

    private func finish(_ outcome: Result<[SocketAddress], StreamError>) {
        self.waiter.take()?.finish(outcome)
    }

    private func error(_ status: Int32) -> StreamError {
        .system(status, action: "find the host of \(self.address)", address: self.address)
    }

    func endForShutDown() { self.cancel(.shutDown(self.loop, self.address)) }

    /// Fails the waiting task, and cancels the lookup unless it has begun.
    ///
    /// A lookup that runs on a thread of libuv cannot be stopped, and the loop closes only after the lookup.
    private func cancel(_ failure: StreamError) {
        self.finish(.failure(failure))
        guard let request = unsafe self.request else { return }
        _ = ProcessExit.unlessBegun {
            unsafe UnsafeMutableRawPointer(request).withMemoryRebound(to: uv_req_t.self, capacity: 1) {
                unsafe uv_cancel($0)
            }
        }
    }
}

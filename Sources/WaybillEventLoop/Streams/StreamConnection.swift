internal import CLibUV
internal import Synchronization

/// A connection over TCP or a Unix socket.
///
/// A connection carries bytes in both directions, in order.
///
/// Receive a connection from ``StreamListener/connections``, or create one:
///
/// ```swift
/// let connection = try await StreamConnection.connect(to: .tcp("localhost", port: 7000), on: eventLoop)
/// try await connection.write(Array("hello\n".utf8))
/// for try await bytes in connection.bytes { print(bytes.count) }
/// ```
///
/// All calls may come from any context. Calls from an actor on the connection's loop stay on the loop's
/// thread. Bytes are received only when a task asks for them, and otherwise stay in the system's buffers. A
/// slow reader therefore slows down its peer. Written bytes are queued in memory, up to
/// ``StreamOptions/highWaterMark``.
///
/// A connection is closed when its last reference is dropped. The value of ``bytes`` has a reference to the
/// connection.
public final class StreamConnection: Sendable {
    /// The loop that the connection is on.
    public let eventLoop: EventLoop
    let core: ConnectionCore

    /// The address of the peer: the server's address for a client, the client's address for a server.
    ///
    /// The client of a Unix socket has no path, so its address is `.unix("")`.
    public var peer: StreamAddress { self.core.peer }

    /// The system's ID of the user whose process is the peer on a Unix socket; nil for TCP.
    public let peerUserID: UInt32?

    init(_ core: ConnectionCore, on eventLoop: EventLoop) {
        self.core = core
        self.eventLoop = eventLoop
        self.peerUserID = core.peerUser
    }

    deinit { self.close() }

    /// Whether the connection has ended.
    ///
    /// This side, an error, a timeout or the shutdown of the loop can end a connection.
    public var isClosed: Bool { self.core.hasEnded.load(ordering: .acquiring) }

    /// Closes the connection after the queued bytes are sent; does not wait.
    ///
    /// Over TCP, the connection then discards all input until the peer's system has acknowledged the bytes,
    /// or until the peer ends the connection. Otherwise input that nobody reads would reset the connection
    /// and destroy the bytes. Both steps together take at most ``StreamOptions/closeTimeout``.
    ///
    /// Reading ends at once: reads that wait and later reads fail with the code `closed`. May be called from
    /// any context and more than once.
    public func close() {
        if self.isClosed { return }
        let core = self.core
        core.loop.runOnThread { core.close() }
    }

    /// Closes the connection at once and drops the queued bytes.
    ///
    /// Over TCP, the peer receives a reset if bytes were dropped.
    public func abort() {
        if self.isClosed { return }
        let core = self.core
        core.loop.runOnThread { core.abort() }
    }

    /// Waits until the connection is closed and its descriptor is free; does not close the connection.
    ///
    /// - Throws: ``StreamError`` with the code `cancelled`.
    public func waitUntilClosed() async throws(StreamError) {
        await EventLoop.yieldIfDue()
        let core = self.core
        try await StreamWaiter<Void>.wait(on: core.loop, for: core.peer) {
            core.waitUntilClosed($0)
        } forget: {
            core.forget($0)
        }.get()
    }
}

extension StreamConnection {
    /// Connects to a server.
    ///
    /// If a host has several addresses, the method tries them one after another. Each address may use an equal
    /// part of the time that is left, so that an address without an answer does not use all of it.
    ///
    /// - Parameters:
    ///   - address: The address of the server.
    ///   - eventLoop: The loop of the connection.
    ///   - options: The connect timeout, and the settings of the connection.
    /// - Returns: The connection.
    /// - Throws: ``StreamError``, for the last address that was tried: `refused`, `timedOut`, `unreachable`,
    ///   `hostNotFound`, `accessDenied`, `invalidAddress`, `outOfDescriptors`, `cancelled` or `shutDown`.
    public static func connect(
        to address: StreamAddress,
        on eventLoop: EventLoop,
        options: StreamOptions = StreamOptions()
    ) async throws(StreamError) -> StreamConnection {
        await EventLoop.yieldIfDue()
        _ = StreamSocket.ignoresBrokenPipe
        let loop = eventLoop.core
        let deadline = loop.deadline(after: options.connectTimeout)
        let candidates = try await HostResolver.resolve(address, on: loop, until: deadline)
        return try await Self.connect(
            to: address,
            trying: candidates,
            on: eventLoop,
            until: deadline,
            options: options
        )
    }

    /// Connects to the first of several socket addresses that answers.
    static func connect(
        to address: StreamAddress,
        trying candidates: [SocketAddress],
        on eventLoop: EventLoop,
        until deadline: Deadline,
        options: StreamOptions
    ) async throws(StreamError) -> StreamConnection {
        let loop = eventLoop.core
        for (index, candidate) in candidates.enumerated() {
            let share = deadline.share(among: candidates.count - index, by: loop.configuration.time)
            let peer = candidates.count == 1 ? address : candidate.address
            let core = ConnectionCore(on: loop, peer: peer, options: options, isConnected: false)
            let outcome = await StreamWaiter<Void>.wait(on: loop, for: address) { waiter in
                core.connect(to: candidate, until: share, waiter)
            } forget: { _ in
                core.cancelConnecting()
            }
            do throws(StreamError) {
                try outcome.get()
                return StreamConnection(core, on: eventLoop)
            } catch {
                // The system also reports `timedOut`, for one address and before the caller's deadline.
                let isLate = error.code == .timedOut && deadline.hasPassed(by: loop.configuration.time)
                let isFinal = isLate || [.cancelled, .shutDown].contains(error.code)
                if isFinal || index == candidates.count - 1 { throw error }
            }
        }
        throw StreamError(.hostNotFound, message: "no address is known for \(address)", address: address)
    }
}

extension StreamConnection {
    /// The bytes that the peer sends, until the peer finishes writing; see ``read()``.
    public var bytes: Bytes { Bytes(connection: self) }

    /// The bytes of a ``StreamConnection``, in chunks of the sizes in which they arrive.
    ///
    /// Use one iteration at a time. If an iteration ends early, the next iteration continues with the next
    /// byte.
    public struct Bytes: AsyncSequence, Sendable {
        /// A chunk of bytes, which is never empty.
        public typealias Element = [UInt8]

        /// The error of the sequence.
        public typealias Failure = StreamError

        let connection: StreamConnection

        /// Returns an iterator over the bytes.
        public func makeAsyncIterator() -> Iterator { Iterator(connection: self.connection) }

        /// An iterator that reads one chunk at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let connection: StreamConnection

            /// Returns the next bytes; nil once the peer has finished writing.
            public mutating func next() async throws(StreamError) -> [UInt8]? {
                try await self.connection.read()
            }

            /// Returns the next bytes; nil once the peer has finished writing.
            ///
            /// - Parameter actor: The actor in whose isolation the call waits.
            /// - Returns: The bytes.
            /// - Throws: ``StreamError``, as ``StreamConnection/read()`` does.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(StreamError) -> [UInt8]? {
                try await self.connection.read()
            }
        }
    }

    /// Returns the next bytes that the peer sends.
    ///
    /// Only one task may read at a time. If the task is cancelled, no byte is lost.
    ///
    /// - Returns: At least one byte and at most ``StreamOptions/readBufferSize`` bytes; nil once the peer has
    ///   finished writing.
    /// - Throws: ``StreamError`` with the code `reset`, `idle`, `closed`, `cancelled`, `shutDown`, or with
    ///   `alreadyWaiting` if another task reads.
    public nonisolated(nonsending) func read() async throws(StreamError) -> [UInt8]? {
        await EventLoop.yieldIfDue()
        let core = self.core
        if core.loop.isOnThread, !Task.isCancelled, let outcome = core.readAtOnce() {
            return try outcome.get()
        }
        return try await StreamWaiter<[UInt8]?>.wait(on: core.loop, for: core.peer) {
            core.read($0)
        } forget: {
            core.cancelRead($0)
        }.get()
    }

    /// Writes bytes.
    ///
    /// The call first waits while more than ``StreamOptions/highWaterMark`` bytes are queued. The bytes are
    /// then sent at once as far as the system accepts them, and other bytes are queued without a copy. When
    /// the call returns, the peer has possibly not received the bytes yet.
    ///
    /// Each write is sent whole, in the order of the calls. If the task is cancelled before or during the
    /// wait, the call fails with `cancelled`, and none of its bytes are sent.
    ///
    /// - Parameter bytes: The bytes to send.
    /// - Throws: ``StreamError`` with the code `reset`, `idle`, `closed`, `cancelled` or `shutDown`.
    public nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws(StreamError) {
        let core = self.core
        guard core.loop.isOnThread, !Task.isCancelled, !core.state.isFull else {
            return try await self.enqueue([bytes])
        }
        let failure = core.write(bytes)
        // Yield after the bytes are written. Before, a later write of another task could overtake them.
        await EventLoop.yieldIfDue()
        if let failure { throw failure }
    }

    /// Writes bytes on the connection's loop without suspending.
    ///
    /// The call does not suspend even if many bytes are queued already. This method does not report a
    /// failure. The task that reads receives the reason.
    ///
    /// - Parameter bytes: The bytes to send.
    /// - Returns: Whether more bytes may be written at once. If the result is false, call
    ///   ``waitUntilWritable()`` first.
    package func writeAtOnce(_ bytes: [UInt8]) -> Bool {
        precondition(self.core.loop.isOnThread, "`writeAtOnce` must be called on the loop of the connection")
        return self.core.write(bytes) != nil || !self.core.state.isFull
    }

    /// Whether writing has failed, so that no further byte reaches the peer.
    ///
    /// Must be read on the connection's loop.
    package var isBroken: Bool {
        precondition(self.core.loop.isOnThread, "`isBroken` must be read on the loop of the connection")
        return self.core.state.writeFailure != nil
    }

    /// The number of bytes that the system has not accepted yet.
    ///
    /// Must be read on the connection's loop.
    package var unsentBytes: Int {
        precondition(self.core.loop.isOnThread, "`unsentBytes` must be read on the loop of the connection")
        return self.core.state.pendingBytes
    }

    /// The size of the bytes in the system's send buffer, as the system counts it; -1 if it is unknown.
    ///
    /// The size changes when the peer reads, but not with each byte. Must be read on the connection's loop.
    package var bufferedSize: Int {
        precondition(self.core.loop.isOnThread, "`bufferedSize` must be read on the loop of the connection")
        return Int(waybill_sent_bytes(self.core.descriptor))
    }

    /// Waits while more than ``StreamOptions/highWaterMark`` bytes are queued.
    ///
    /// - Throws: ``StreamError`` with the code `reset`, `idle`, `closed`, `cancelled` or `shutDown`.
    package nonisolated(nonsending) func waitUntilWritable() async throws(StreamError) {
        try await self.enqueue([])
    }

    /// Writes several buffers one after another, in as few system calls as possible.
    ///
    /// The call suspends and fails like ``write(_:)-([UInt8])``.
    ///
    /// - Parameter buffers: The buffers to send, such as a header and a body.
    /// - Throws: ``StreamError`` with the code `reset`, `idle`, `closed`, `cancelled` or `shutDown`.
    public nonisolated(nonsending) func write(_ buffers: [[UInt8]]) async throws(StreamError) {
        try await self.enqueue(buffers)
        await EventLoop.yieldIfDue()
    }

    /// Waits until the queue is not full, and then writes the buffers.
    private nonisolated(nonsending) func enqueue(_ buffers: [[UInt8]]) async throws(StreamError) {
        let core = self.core
        try await StreamWaiter<Void>.wait(on: core.loop, for: core.peer) {
            core.write(buffers, $0)
        } forget: {
            core.forget($0)
        }.get()
    }

    /// Sends the queued bytes, and then informs the peer that no more bytes follow; reading continues.
    ///
    /// - Throws: ``StreamError`` with the code `reset`, `idle`, `closed`, `cancelled` or `shutDown`.
    public nonisolated(nonsending) func finishWriting() async throws(StreamError) {
        await EventLoop.yieldIfDue()
        let core = self.core
        try await StreamWaiter<Void>.wait(on: core.loop, for: core.peer) {
            core.finishWriting($0)
        } forget: {
            core.forget($0)
        }.get()
    }
}

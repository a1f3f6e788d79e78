internal import Synchronization

/// A connection, over TCP or a Unix socket: bytes in both directions, in order.
///
/// Take it from ``StreamListener/connections``, or make it:
///
/// ```swift
/// let connection = try await StreamConnection.connect(to: .tcp("localhost", port: 7000), on: eventLoop)
/// try await connection.write(Array("hello\n".utf8))
/// for try await bytes in connection.bytes { print(bytes.count) }
/// ```
///
/// All calls may come from any context; from an actor on the connection's loop they stay on its thread. Bytes
/// are received when a task asks for them, and stay in the system's buffers otherwise, so a reader that is
/// slow slows its peer. What is written waits in memory up to ``StreamOptions/highWaterMark``.
///
/// A connection is closed when its last reference is dropped; ``bytes`` holds one.
public final class StreamConnection: Sendable {
    /// The loop that the connection is on.
    public let eventLoop: EventLoop
    let core: ConnectionCore

    /// The other end: for a client where it has connected to, for a server the client's address.
    ///
    /// A client of a Unix socket has no path of its own; its address is `.unix("")`.
    public var peer: StreamAddress { self.core.peer }

    /// The user whose process is at the other end of a Unix socket, as the system knows it; nil for TCP.
    public let peerUserID: UInt32?

    init(_ core: ConnectionCore, on eventLoop: EventLoop) {
        self.core = core
        self.eventLoop = eventLoop
        self.peerUserID = core.peerUser
    }

    deinit { self.close() }

    /// Whether the connection has ended: closed by this side, by an error, by a timeout or with its loop.
    public var isClosed: Bool { self.core.hasEnded.load(ordering: .acquiring) }

    /// Sends what was written, for ``StreamOptions/closeTimeout`` at most, and closes the connection; does
    /// not wait.
    ///
    /// Reading ends at once: tasks that wait for bytes, and calls that come later, fail with the code
    /// `closed`. May be called from any context and as often as wanted.
    public func close() {
        if self.isClosed { return }
        let core = self.core
        core.loop.runOnThread { core.close() }
    }

    /// Closes the connection at once and drops what was not sent; over TCP the peer gets a reset then.
    public func abort() {
        if self.isClosed { return }
        let core = self.core
        core.loop.runOnThread { core.abort() }
    }

    /// Waits until the connection is closed and its descriptor is free; does not close it.
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
    /// A host's addresses are tried one after the other.
    ///
    /// - Parameters:
    ///   - address: Where to.
    ///   - eventLoop: The loop that the connection is on.
    ///   - options: The time that it may take, and how the connection behaves.
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
        for (index, candidate) in candidates.enumerated() {
            let peer = candidates.count == 1 ? address : candidate.address
            let core = ConnectionCore(on: loop, peer: peer, options: options, isConnected: false)
            let outcome = await StreamWaiter<Void>.wait(on: loop, for: address) { waiter in
                core.connect(to: candidate, until: deadline, waiter)
            } forget: { _ in
                core.cancelConnecting()
            }
            do throws(StreamError) {
                try outcome.get()
                return StreamConnection(core, on: eventLoop)
            } catch {
                let isFinal = [.timedOut, .cancelled, .shutDown].contains(error.code)
                if isFinal || index == candidates.count - 1 { throw error }
            }
        }
        throw StreamError(.hostNotFound, message: "no address is known for \(address)", address: address)
    }
}

extension StreamConnection {
    /// The bytes that the peer sends, until it finishes; see ``read()``.
    public var bytes: Bytes { Bytes(connection: self) }

    /// The bytes of a ``StreamConnection``, in the pieces in which they arrive.
    ///
    /// Iterate once at a time. An iteration that is left early may be followed by another, and no byte is
    /// lost.
    public struct Bytes: AsyncSequence, Sendable {
        /// What the sequence yields; never empty.
        public typealias Element = [UInt8]

        /// How the sequence fails.
        public typealias Failure = StreamError

        let connection: StreamConnection

        /// Starts to read.
        public func makeAsyncIterator() -> Iterator { Iterator(connection: self.connection) }

        /// Reads piece by piece.
        public struct Iterator: AsyncIteratorProtocol {
            let connection: StreamConnection

            /// The next bytes; nil once the peer has finished writing.
            public mutating func next() async throws(StreamError) -> [UInt8]? {
                try await self.connection.read()
            }

            /// The next bytes; nil once the peer has finished writing.
            ///
            /// - Parameter actor: The actor to wait in the isolation of.
            /// - Returns: The bytes.
            /// - Throws: ``StreamError``, as ``StreamConnection/read()`` does.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(StreamError) -> [UInt8]? {
                try await self.connection.read()
            }
        }
    }

    /// The next bytes that the peer sends.
    ///
    /// For one task at a time; cancelling it loses no byte.
    ///
    /// - Returns: From one byte up to ``StreamOptions/readBufferSize``; nil once the peer has finished
    ///   writing.
    /// - Throws: ``StreamError`` with the code `reset`, `idle`, `closed`, `cancelled`, `shutDown`, or
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
    /// They are sent at once as far as the system takes them; the rest waits, and is not copied. The call
    /// suspends while more than ``StreamOptions/highWaterMark`` bytes wait. That it returns does not mean
    /// that the peer has them.
    ///
    /// Writes are sent in the order of the calls, each whole. A task that is cancelled while it waits stops
    /// waiting; its bytes are sent all the same, since part of them may have been.
    ///
    /// - Parameter bytes: What to send.
    /// - Throws: ``StreamError`` with the code `reset`, `idle`, `closed`, `cancelled` or `shutDown`.
    public nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws(StreamError) {
        await EventLoop.yieldIfDue()
        let core = self.core
        guard core.loop.isOnThread, !Task.isCancelled else {
            return try await self.wait(nil) { $0.write(bytes) }
        }
        let written = core.write(bytes)
        if case .done = written { return }
        try await self.wait(written) { $0.write(bytes) }
    }

    /// Writes bytes on the connection's loop without suspending, however many wait already.
    ///
    /// That writing has failed is told to the task that reads.
    ///
    /// - Parameter bytes: What to send.
    /// - Returns: Whether more may be written at once; ``waitUntilWritable()`` waits until it may.
    package func writeAtOnce(_ bytes: [UInt8]) -> Bool {
        precondition(self.core.loop.isOnThread, "bytes are written at once on the connection's loop only")
        if case .full = self.core.write(bytes) { return false }
        return true
    }

    /// Whether writing has failed, so that nothing reaches the peer any more; on the connection's loop only.
    package var isBroken: Bool {
        precondition(self.core.loop.isOnThread, "a failure is known on the connection's loop only")
        return self.core.state.writeFailure != nil
    }

    /// How many bytes wait until the system takes them; on the connection's loop only.
    package var unsentBytes: Int {
        precondition(self.core.loop.isOnThread, "what waits is known on the connection's loop only")
        return self.core.state.pendingBytes
    }

    /// Waits while more than ``StreamOptions/highWaterMark`` bytes wait.
    ///
    /// - Throws: ``StreamError`` with the code `reset`, `idle`, `closed`, `cancelled` or `shutDown`.
    package nonisolated(nonsending) func waitUntilWritable() async throws(StreamError) {
        try await self.wait(nil) { $0.write([] as [UInt8]) }
    }

    /// Writes several buffers one after the other, in as few system calls as possible, as
    /// ``write(_:)-([UInt8])`` writes one.
    ///
    /// - Parameter buffers: What to send: a header and a body, for example.
    /// - Throws: ``StreamError`` with the code `reset`, `idle`, `closed`, `cancelled` or `shutDown`.
    public nonisolated(nonsending) func write(_ buffers: [[UInt8]]) async throws(StreamError) {
        await EventLoop.yieldIfDue()
        try await self.wait(nil) { $0.write(buffers) }
    }

    /// Waits until few enough bytes wait.
    ///
    /// - Parameters:
    ///   - written: What writing has led to; nil to write on the loop.
    ///   - write: Writes.
    /// - Throws: ``StreamError`` if the bytes were not taken, or the wait was ended.
    private nonisolated(nonsending) func wait(
        _ written: ConnectionCore.WriteOutcome?,
        _ write: @escaping @Sendable (ConnectionCore) -> ConnectionCore.WriteOutcome
    ) async throws(StreamError) {
        let core = self.core
        try await StreamWaiter<Void>.wait(on: core.loop, for: core.peer) { waiter in
            switch written ?? write(core) {
            case .done: waiter.finish(.success(()))
            case .failed(let failure): waiter.finish(.failure(failure))
            case .full: core.writers.append(waiter)
            }
        } forget: {
            core.forget($0)
        }.get()
    }

    /// Sends what was written and then tells the peer that no more comes; reading goes on.
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

internal import Synchronization

/// A listening socket, over TCP or at the path of a Unix socket.
///
/// A complete echo server:
///
/// ```swift
/// let loop = EventLoop(name: "echo")
/// let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 7000), on: loop)
/// try await listener.serve { connection in
///     for try await bytes in connection.bytes { try await connection.write(bytes) }
/// }
/// ```
///
/// A connection is accepted when a task asks for a connection. Other connections wait in the system's
/// backlog. When the process has no file descriptor left, the listener stops accepting, logs a warning, and
/// tries again later. All calls may come from any context. The listener stops when its last reference is
/// dropped, when it is closed or when its loop shuts down.
///
/// By default only the owner of a Unix socket may connect (``StreamOptions/permissions``). If the server that
/// created the file at the path no longer runs, the file is replaced. If a server answers at the path, `bind`
/// fails. The file is removed when the listener stops.
///
/// The first listener or connection makes the process ignore `SIGPIPE`, unless the program handles the
/// signal. Writing to a closed peer is then an error and does not end the process. Child processes inherit
/// this setting.
public final class StreamListener: Sendable {
    /// The loop of the listener and its connections.
    public let eventLoop: EventLoop
    private let core: ListenerCore

    /// The address of the listener, with the port that the system has assigned.
    public var address: StreamAddress { self.core.address }

    private init(_ core: ListenerCore, on eventLoop: EventLoop) {
        self.core = core
        self.eventLoop = eventLoop
    }

    deinit { self.close() }

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - address: The address to listen at. If the address contains a host name, the first address of the
    ///     host is used.
    ///   - eventLoop: The loop of the listener.
    ///   - options: The backlog, the time limit of a name resolution (``StreamOptions/connectTimeout``), and
    ///     the settings of connections.
    /// - Returns: The listener. From now on clients can connect, even before a task asks for connections.
    /// - Throws: ``StreamError`` with the code `addressInUse`, `accessDenied`, `invalidAddress`,
    ///   `hostNotFound`, `outOfDescriptors`, `cancelled` or `shutDown`.
    public static func bind(
        _ address: StreamAddress,
        on eventLoop: EventLoop,
        options: StreamOptions = StreamOptions()
    ) async throws(StreamError) -> StreamListener {
        await EventLoop.yieldIfDue()
        _ = StreamSocket.ignoresBrokenPipe
        let loop = eventLoop.core
        let core: ListenerCore
        if case .unix(let path) = address {
            let (descriptor, file) = try await UnixSocketFile.listen(at: path, options)
            core = ListenerCore(on: loop, descriptor, file: file, address: address, options: options)
        } else {
            let deadline = loop.deadline(after: options.connectTimeout)
            let found = try await HostResolver.resolve(address, on: loop, until: deadline)
            let descriptor = try StreamSocket.listen(at: found[0], address, options)
            let bound = StreamSocket.localAddress(of: descriptor)?.address ?? address
            core = ListenerCore(on: loop, descriptor, file: nil, address: bound, options: options)
        }
        return try await StreamWaiter<StreamListener>.wait(on: loop, for: address) { waiter in
            waiter.finish(
                Result { () throws(StreamError) in
                    try core.open()
                    return StreamListener(core, on: eventLoop)
                }
            )
        } forget: { _ in
            core.discard()
        }.get()
    }

    /// Stops listening, without waiting.
    ///
    /// Accepted connections stay open.
    ///
    /// ``connections`` ends. May be called from any context and more than once.
    public func close() {
        if self.core.hasEnded.load(ordering: .acquiring) { return }
        let core = self.core
        core.loop.runOnThread { core.close() }
    }
}

extension StreamListener {
    /// The connections in the order of their arrival, until the listener is closed or the task is cancelled.
    ///
    /// Use one iteration at a time. A connection is closed when its last reference is dropped.
    public var connections: Connections { Connections(listener: self) }

    /// The connections of a ``StreamListener``.
    public struct Connections: AsyncSequence, Sendable {
        /// The element of the sequence: a connection.
        public typealias Element = StreamConnection

        /// The error of the sequence.
        public typealias Failure = StreamError

        let listener: StreamListener

        /// Returns an iterator that waits for connections.
        public func makeAsyncIterator() -> Iterator { Iterator(listener: self.listener) }

        /// An iterator that waits for connections, one at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let listener: StreamListener

            /// Returns the next connection; nil once the listener is closed or the task is cancelled.
            public mutating func next() async throws(StreamError) -> StreamConnection? {
                try await self.listener.accept()
            }

            /// Returns the next connection; nil once the listener is closed or the task is cancelled.
            ///
            /// - Parameter actor: The actor in whose isolation the call waits.
            /// - Returns: The connection.
            /// - Throws: ``StreamError`` with the code `shutDown` when the loop shuts down, and with
            ///   `alreadyWaiting` if another task waits.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(StreamError) -> StreamConnection? {
                try await self.listener.accept()
            }
        }
    }

    private nonisolated(nonsending) func accept() async throws(StreamError) -> StreamConnection? {
        await EventLoop.yieldIfDue()
        let core = self.core
        var outcome = core.loop.isOnThread && !Task.isCancelled ? core.acceptAtOnce() : nil
        if outcome == nil {
            outcome = await StreamWaiter<ConnectionCore?>.wait(on: core.loop, for: core.address) {
                core.accept($0)
            } forget: {
                core.forget($0)
            }
        }
        switch outcome {
        case .failure(let failure) where failure.code == .cancelled: return nil
        case .some(let outcome): return try outcome.get().map { StreamConnection($0, on: self.eventLoop) }
        case nil: return nil
        }
    }

    /// Runs a closure for each connection, until the listener is closed or the task is cancelled.
    ///
    /// Each connection has a separate task on the listener's loop, and is closed when its closure returns. An
    /// error that a closure throws ends only its own connection. When the listener is closed, the call waits
    /// for the closures that still run. When the calling task is cancelled, the tasks of the closures are
    /// cancelled too.
    ///
    /// - Parameter handler: The closure that handles a connection.
    /// - Throws: ``StreamError`` with the code `shutDown` when the loop shuts down, and with `alreadyWaiting`
    ///   if another task waits for connections.
    public func serve(
        _ handler: @escaping @Sendable (StreamConnection) async throws -> Void
    ) async throws(StreamError) {
        let tasks = ConnectionTasks(eventLoop: self.eventLoop)
        let end = await withDiscardingTaskGroup(returning: Result<Void, StreamError>.self) { group in
            do throws(StreamError) {
                for try await connection in self.connections {
                    group.addTask { await tasks.run(handler, connection) }
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try end.get()
    }
}

/// The actor that runs the closures of ``StreamListener/serve(_:)``.
///
/// Actor isolation keeps a task on the loop. With a task executor instead, the task would be enqueued again
/// after each wait.
private actor ConnectionTasks: LoopBound {
    let eventLoop: EventLoop

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    func run(
        _ handler: @Sendable (StreamConnection) async throws -> Void,
        _ connection: StreamConnection
    ) async {
        try? await handler(connection)
        connection.close()
    }
}

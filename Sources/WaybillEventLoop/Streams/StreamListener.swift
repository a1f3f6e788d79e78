internal import Synchronization

/// A socket that listens, over TCP or at the path of a Unix socket.
///
/// An echo server, whole:
///
/// ```swift
/// let loop = EventLoop(name: "echo")
/// let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 7000), on: loop)
/// try await listener.serve { connection in
///     for try await bytes in connection.bytes { try await connection.write(bytes) }
/// }
/// ```
///
/// Connections are accepted when a task asks for them, the rest waits in the system's backlog. Where the
/// process has no file descriptor left, accepting pauses, logs a warning, and goes on when there is one. All
/// calls may come from any context. The listener stops when its last reference is dropped, when it is closed
/// or when its loop shuts down.
///
/// A Unix socket is created for its owner alone (``StreamOptions/permissions``). A file that was left by a
/// server that died is replaced; if a server answers, `bind` fails. The file is removed with the listener.
///
/// The first listener or connection has the process ignore `SIGPIPE`, unless the program handles it: writing
/// to a peer that is gone is an error, and not the end of the process. Programs that are started inherit
/// that.
public final class StreamListener: Sendable {
    /// The loop that the listener and its connections are on.
    public let eventLoop: EventLoop
    private let core: ListenerCore

    /// Where the listener listens; with the port that the system has chosen.
    public var address: StreamAddress { self.core.address }

    private init(_ core: ListenerCore, on eventLoop: EventLoop) {
        self.core = core
        self.eventLoop = eventLoop
    }

    deinit { self.close() }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - address: Where. A host's name is resolved, and its first address taken.
    ///   - eventLoop: The loop that listens.
    ///   - options: The backlog, how long a name may take to resolve (``StreamOptions/connectTimeout``), and
    ///     how connections behave.
    /// - Returns: The listener; connections are taken from now on, also before they are asked for.
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
            core = ListenerCore(on: loop, descriptor, file, address, options)
        } else {
            let deadline = loop.deadline(after: options.connectTimeout)
            let found = try await HostResolver.resolve(address, on: loop, until: deadline)
            let descriptor = try StreamSocket.listen(at: found[0], address, options)
            let bound = StreamSocket.localAddress(of: descriptor)?.address ?? address
            core = ListenerCore(on: loop, descriptor, nil, bound, options)
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

    /// Stops to listen, and does not wait; connections that were accepted stay open.
    ///
    /// ``connections`` ends. May be called from any context and as often as wanted.
    public func close() {
        if self.core.hasEnded.load(ordering: .acquiring) { return }
        let core = self.core
        core.loop.runOnThread { core.close() }
    }
}

extension StreamListener {
    /// The connections in the order in which they come, until the listener is closed or the task is
    /// cancelled.
    ///
    /// Iterate once at a time. A connection is closed when its last reference is dropped.
    public var connections: Connections { Connections(listener: self) }

    /// The connections of a ``StreamListener``.
    public struct Connections: AsyncSequence, Sendable {
        /// What the sequence yields.
        public typealias Element = StreamConnection

        /// How the sequence fails.
        public typealias Failure = StreamError

        let listener: StreamListener

        /// Starts to wait for connections.
        public func makeAsyncIterator() -> Iterator { Iterator(listener: self.listener) }

        /// Waits for connections, one at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let listener: StreamListener

            /// The next connection; nil once the listener is closed or the task is cancelled.
            public mutating func next() async throws(StreamError) -> StreamConnection? {
                try await self.listener.accept()
            }

            /// The next connection; nil once the listener is closed or the task is cancelled.
            ///
            /// - Parameter actor: The actor to wait in the isolation of.
            /// - Returns: The connection.
            /// - Throws: ``StreamError`` with the code `shutDown` when the loop shuts down, and
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
    /// Each connection has a task of its own on the listener's loop, and is closed when its closure ends. An
    /// error that the closure throws ends its connection and no other. When the listener is closed, the call
    /// waits for the connections that are open; when the task is cancelled, theirs are, too.
    ///
    /// - Parameter handler: What to do with a connection.
    /// - Throws: ``StreamError`` with the code `shutDown` when the loop shuts down, and `alreadyWaiting` if
    ///   another task waits for connections.
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

/// Where the closures of ``StreamListener/serve(_:)`` run.
///
/// The isolation of an actor stays on the loop, where a task executor would queue the task anew after each
/// wait.
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

internal import DequeModule
internal import Logging
public import Waybill
internal import WaybillDocuments
public import WaybillEventLoop
internal import WaybillRouting

/// A server that handles requests to the exposed URLs of a bus, over a Unix socket or TCP, in JSON-RPC 2.0.
///
/// ```swift
/// try bus.expose("app://user/**")
/// let server = RPCServer(bus, listening: .unix("/run/shop.sock"))
/// try await server.run()
/// ```
///
/// The `method` of a request is the URL, and its `params` are the parameters:
/// `{"jsonrpc":"2.0","id":7,"method":"app://user/1","params":{"name":"Lili"}}`. If a URL is not exposed, a
/// peer receives the same error as for a URL without a route. <doc:Serving> describes the wire format, the
/// error codes and the limits.
///
/// The server runs on the bus's loop, so a request to a module on this loop is handled without a change of
/// thread. Run the server as a service of swift-service-lifecycle that is listed after the bus, or call
/// ``run()``. A server may run once.
public final class RPCServer: Sendable {
    let core: RPCServerCore

    /// Creates a server, which does not listen yet.
    ///
    /// This initializer builds the document for `$/document`, which describes the routes. Each change of the
    /// routes builds the document again. To find the properties of the parameter and reply types, the server
    /// calls the `init(from:)` of each type with small values. If such a call traps, the program ends now or
    /// at the change of the routes, and not when a peer sends a request.
    ///
    /// - Parameters:
    ///   - bus: The bus whose exposed routes the server handles.
    ///   - address: The address at which the server listens.
    ///   - configuration: The peers that may connect, and the limits.
    public init(
        _ bus: MessageBus,
        listening address: StreamAddress,
        configuration: Configuration = Configuration()
    ) {
        self.core = RPCServerCore(bus, address: address, configuration: configuration)
    }

    /// Begins to listen.
    ///
    /// Connections wait in the system's backlog until the server runs. Call this method to find the port that
    /// the system has assigned, or to let clients connect before the server runs. Otherwise ``run()`` begins
    /// to listen.
    ///
    /// - Returns: The address at which the server listens.
    /// - Throws: `StreamError` if the server cannot listen at the address, and a `RoutingError` with the code
    ///   `refused` for a TCP address without a token.
    @discardableResult
    public func start() async throws -> StreamAddress { try await self.core.start().address }

    /// Serves until the task is cancelled or, in a service group, until graceful shutdown.
    ///
    /// At graceful shutdown, the server accepts no more connections and requests. It waits for its unanswered
    /// requests, for ``Configuration/drainLimit`` at most. When the task is cancelled, the unanswered
    /// requests are cancelled as well.
    ///
    /// - Throws: The errors of ``start()``, and `StreamError` with the code `shutDown` when the loop shuts
    ///   down.
    public func run() async throws { try await self.core.run() }

    /// Stops accepting connections and requests.
    ///
    /// ``run()`` returns when all requests are answered, or after ``Configuration/drainLimit``. May be called
    /// from any context, and does not wait.
    public func beginGracefulShutdown() { self.core.beginGracefulShutdown() }

    /// The counts of the server since it was created.
    ///
    /// The property may be read from any context.
    public var statistics: Statistics { self.core.ledger.statistics }
}

/// The counts of a server, which the sessions of the server update.
final class ServerLedger: Sendable {
    private let counts = Locked(RPCServer.Statistics())

    var statistics: RPCServer.Statistics { self.counts.withLock { $0 } }

    func note(_ change: (inout RPCServer.Statistics) -> Void) { self.counts.withLock { change(&$0) } }
}

/// The core of a server, which listens, admits connections and closes them.
///
/// The actor runs on the loop of the bus.
actor RPCServerCore: LoopBound {
    nonisolated let eventLoop: EventLoop
    nonisolated let bus: MessageBus
    nonisolated let configuration: RPCServer.Configuration
    nonisolated let ledger = ServerLedger()
    nonisolated let load: ServerLoad
    nonisolated let document: LiveDocument
    private nonisolated let address: StreamAddress
    /// The maximum number of connections.
    private nonisolated let connectionLimit: Int

    private var starting: Task<StreamListener, any Error>?
    private var listener: StreamListener?
    /// The sessions by number.
    ///
    /// The numbers grow. The address of a session could be used again while ``newcomers`` contains it.
    private var sessions: [Int: RPCSession] = [:]
    private var lastNumber = 0
    /// The numbers of the sessions whose peers must send a token, in the order of their connections.
    ///
    /// The first session still waits for the token, and the others possibly do.
    private var newcomers: Deque<Int> = []
    /// The number of rejected connections that are not closed yet.
    private(set) var closingRefusals = 0
    private var isDraining = false
    private var watch: ScheduledTimer?

    static let closingRefusalLimit = 32

    init(_ bus: MessageBus, address: StreamAddress, configuration: RPCServer.Configuration) {
        self.eventLoop = bus.eventLoop
        self.bus = bus
        self.document = LiveDocument(of: bus, scope: .exposed)
        self.address = address
        self.configuration = configuration
        self.connectionLimit = configuration.limits.connections(ofDescriptors: DescriptorLimit.current)
        self.load = ServerLoad(configuration.limits, on: bus.eventLoop)
        if self.connectionLimit < configuration.limits.connections {
            configuration.logger.notice(
                "the system permits too few file descriptors for all connections: raise `ulimit -n`",
                metadata: [
                    "connections": "\(self.connectionLimit)", "wanted": "\(configuration.limits.connections)",
                ]
            )
        }
    }

    func start() async throws -> StreamListener {
        // `start()` and `run()` are possibly called at the same time, and must use one listener.
        let starting = self.starting ?? Task { try await self.listen() }
        self.starting = starting
        do {
            return try await starting.value
        } catch {
            if self.starting == starting { self.starting = nil }
            throw error
        }
    }

    private func listen() async throws -> StreamListener {
        if let objection = self.objection(to: self.address) { throw objection }
        var options = StreamOptions()
        options.permissions = self.configuration.permissions
        // A session that waits until its peer has read must not continue while the limit is exceeded.
        options.highWaterMark = min(options.highWaterMark, max(0, self.configuration.limits.unreadBytes))
        let listener = try await StreamListener.bind(self.address, on: self.eventLoop, options: options)
        // A name such as `localhost` was checked before. Check the address to which the name was resolved.
        if let objection = self.objection(to: listener.address) {
            listener.close()
            throw objection
        }
        self.listener = listener
        if self.isDraining { listener.close() }
        return listener
    }

    /// Returns the reason that a server may not listen at an address; nil if the server may listen.
    private func objection(to address: StreamAddress) -> RoutingError? {
        guard case .tcp(let host, _) = address, self.configuration.token == nil else { return nil }
        let isLoopback = host == "::1" || host == "localhost" || host.hasPrefix("127.")
        if isLoopback, self.configuration.admitsLoopbackWithoutToken { return nil }
        return RoutingError(
            .refused,
            url: "\(address)",
            message:
                "a server on TCP must have a token: set `token`, or `admitsLoopbackWithoutToken` on a loopback address"
        )
    }

    func serve() async throws {
        let listener = try await self.start()
        defer {
            self.load.assumeOnLoop { $0.drain() }
            listener.close()
            self.watch.take()?.cancel()
        }
        let end = await withDiscardingTaskGroup(returning: Result<Void, any Error>.self) { group in
            do {
                for try await connection in listener.connections {
                    guard let (number, session) = self.admit(connection) else { continue }
                    group.addTask {
                        await session.run()
                        await self.remove(number)
                    }
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try end.get()
    }

    /// Admits a connection, or sends the peer the reason for the rejection and closes the connection.
    private func admit(_ connection: StreamConnection) -> (number: Int, session: RPCSession)? {
        if let refusal = self.refusal(of: connection) {
            self.ledger.note { $0.refusedConnections += 1 }
            self.configuration.logger.notice(
                "rejected a connection",
                metadata: ["reason": "\(refusal.message)", "peer": "\(PeerName(connection))"]
            )
            self.refuse(connection, refusal)
            return nil
        }
        let session = RPCSession(connection, of: self)
        self.lastNumber += 1
        self.sessions[self.lastNumber] = session
        if self.configuration.token != nil {
            self.dropNewcomers()
            self.newcomers.append(self.lastNumber)
        }
        self.ledger.note {
            $0.connections += 1
            $0.openConnections += 1
        }
        if self.watch == nil { self.scheduleWatch() }
        return (self.lastNumber, session)
    }

    /// Sends a peer the reason for its rejection, and closes its connection.
    ///
    /// A peer that continues to send can keep its connection open for some seconds. The limit of connections
    /// does not count this connection, so few of them may be open, and the others end without the reason.
    private func refuse(_ connection: StreamConnection, _ failure: RPCFailure) {
        guard self.closingRefusals < Self.closingRefusalLimit else { return connection.abort() }
        self.closingRefusals += 1
        Task {
            let answer = RPCSession.answer(to: .null, failure)
            try? await connection.write(FrameReader.Framing.lines.frame(answer))
            connection.close()
            try? await connection.waitUntilClosed()
            self.closingRefusals -= 1
        }
    }

    private func refusal(of connection: StreamConnection) -> RPCFailure? {
        if self.isDraining {
            return RPCFailure(RoutingError(.shutDown, message: ""), reference: nil)
        }
        if let user = connection.peerUserID, !self.configuration.allowedUserIDs.contains(user) {
            let refused = RoutingError(.refused, message: "user \(user) is not admitted")
            return RPCFailure(refused, reference: nil)
        }
        if !self.hasRoom {
            return .limit("\(self.connectionLimit) connections are open or have calls, which is the limit")
        }
        return nil
    }

    /// Whether the limit allows another connection.
    ///
    /// If all connections are taken, the server ends the oldest connection without the required token. Peers
    /// without the token can therefore not keep other peers out.
    private var hasRoom: Bool {
        let inUse = self.load.assumeOnLoop { $0.connectionsInUse }
        if self.sessions.count + inUse < self.connectionLimit { return true }
        self.dropNewcomers()
        guard let newcomer = self.newcomers.popFirst().flatMap({ self.sessions[$0] }) else { return false }
        newcomer.assumeOnLoop {
            $0.connection?.end("the server needs the connection, and the peer has not sent the token", in: $0)
        }
        return true
    }

    /// Removes the first newcomers as long as they do not wait for the required token.
    private func dropNewcomers() {
        while let first = self.newcomers.first,
            self.sessions[first]?.assumeOnLoop({ $0.connection?.isNewcomer ?? false }) != true
        {
            self.newcomers.removeFirst()
        }
    }

    private func remove(_ number: Int) {
        self.sessions[number] = nil
        self.ledger.note { $0.openConnections -= 1 }
    }

    nonisolated func beginGracefulShutdown() {
        self.eventLoop.execute { self.assumeOnLoop { $0.drain() } }
    }

    private func drain() {
        guard !self.isDraining else { return }
        self.isDraining = true
        self.listener?.close()
        self.load.assumeOnLoop { $0.drain() }
        for session in self.sessions.values { session.assumeOnLoop { $0.connection?.drain($0) } }
        let deadline = Deadline(after: self.configuration.drainLimit, by: self.eventLoop.time)
        self.eventLoop.schedule(at: deadline) { [weak self] in
            self?.assumeOnLoop { $0.endSessions() }
        }
    }

    private func endSessions() {
        for session in self.sessions.values {
            session.assumeOnLoop { $0.connection?.end("the server shuts down", in: $0) }
        }
    }

    /// Schedules the next check, in one second, for connections that exceed a time limit.
    private func scheduleWatch() {
        let deadline = Deadline(after: .seconds(1), by: self.eventLoop.time)
        self.watch = self.eventLoop.schedule(at: deadline) { [weak self] in
            self?.assumeOnLoop { $0.watchSessions() }
        }
    }

    private func watchSessions() {
        self.watch = nil
        let now = self.eventLoop.time.instant
        for session in self.sessions.values {
            session.assumeOnLoop { $0.connection?.endIfOverdue(at: now, in: $0) }
        }
        if !self.sessions.isEmpty { self.scheduleWatch() }
    }
}

/// The name of a peer in logs and messages.
struct PeerName: CustomStringConvertible {
    let description: String

    init(_ connection: StreamConnection) {
        if let user = connection.peerUserID {
            self.description = "user \(user)"
        } else {
            self.description = "\(connection.peer)"
        }
    }
}

internal import Synchronization
internal import WaybillEventLoop
public import WaybillRouting

/// Carries the messages of one scheme to where they are handled: to another host, to a device, to code that
/// no pattern can name.
///
/// ```swift
/// struct Memos: Connector {
///     nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
///         try await memos.text(named: message.address.path)
///     }
/// }
///
/// try bus.connect("memo", to: Memos())
/// ```
///
/// A connector is the handler of every URL of its scheme that no registered pattern takes, and is treated
/// like one: it runs on the bus's loop, in a task of its own; it is cancelled when its caller is, when the
/// deadline passes, and when it is disconnected; its messages meet the middlewares and are counted. It may
/// send progress replies with ``Message/reply(with:)``. The address of a message has the text of the URL as
/// it was given.
///
/// Write one when URLs are not known beforehand. Where they are, routes do the same with patterns, and say
/// what there is.
///
/// What a connector throws is what its caller gets: a `RoutingError` about this message, or about no URL, as
/// it is; anything else as `handlerFailed`, with the error as its cause. To say that the other side cannot be
/// reached, throw `unreachable`.
///
/// A conformance in a module that does not have the upcoming feature `NonisolatedNonsendingByDefault` should
/// say `nonisolated(nonsending)`, as above, or every message makes a detour through the global executor.
public protocol Connector: Sendable {
    /// Lets a message pass, or refuses it.
    ///
    /// It is called before ``route(_:as:)``, which is not called if this throws, and may take its time. To
    /// refuse it, throw ``WaybillRouting/RoutingError/refused(_:cause:)``, which callers can tell from every
    /// other failure.
    ///
    /// - Parameter message: the message.
    /// - Throws: the reason that the message may not pass.
    nonisolated(nonsending) func willRoute(_ message: Message) async throws

    /// Carries a message to where it is handled, and brings the reply back.
    ///
    /// - Parameter message: the message, with the parameters, headers and deadline that its caller gave.
    /// - Returns: the reply's value; `()` if there is nothing to say.
    /// - Throws: the reason that there is no reply.
    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable

    /// Whether a URL of the scheme leads anywhere, as far as that is known without a message.
    ///
    /// It is what ``MessageBus/canRoute(_:)`` says, is called on the calling thread, and must not block.
    ///
    /// - Parameter address: the URL.
    /// - Returns: whether a message to it may be answered.
    func canRoute(_ address: Address) -> Bool
}

extension Connector {
    /// Lets every message pass.
    public nonisolated(nonsending) func willRoute(_ message: Message) async throws {}

    /// Says yes to every URL of the scheme.
    public func canRoute(_ address: Address) -> Bool { true }
}

extension Handler {
    /// A connector as the handler of its messages.
    convenience init(connector: any Connector, mailbox: Mailbox, core: BusCore) {
        self.init(
            boxed: { message in
                try await connector.willRoute(message)
                return try await connector.route(message)
            },
            isConnector: true,
            mailbox: mailbox,
            core: core
        )
    }
}

extension MessageBus {
    /// Has the messages of a scheme carried by a connector, as far as no registered pattern takes them.
    ///
    /// ```swift
    /// let registration = try bus.connect("memo", to: Memos())
    /// let text: String = try await bus.route("memo://shopping/list")
    /// ```
    ///
    /// A scheme has one connector: another one takes its place, and callers that wait for the first fail at
    /// once with `noHandler`. A pattern that is registered under the scheme is more specific and wins.
    /// Messages that a pattern takes pay nothing for connectors.
    ///
    /// The bus holds the connector while it is connected, so one that routes on should hold the bus `weak`.
    ///
    /// - Parameters:
    ///   - scheme: the scheme, without a colon, compared as the bus's conventions say.
    ///   - connector: what carries the messages.
    ///   - fileID: where it is connected, for statistics.
    ///   - line: where it is connected, for statistics.
    /// - Returns: what disconnects it; it stays connected if this is dropped.
    /// - Throws: `invalidPattern` for a text that can be no scheme, as `https://` cannot; `shutDown`.
    @discardableResult
    public func connect(
        _ scheme: String,
        to connector: some Connector,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Registration {
        try self.core.connect(scheme, to: connector, fileID, line)
    }

    /// The schemes that have a connector, sorted.
    public var connectedSchemes: [String] { self.core.registry.connections.schemes.sorted() }
}

extension BusCore {
    /// Gives a scheme to a connector, and takes it from the one that had it.
    func connect(
        _ scheme: String,
        to connector: any Connector,
        _ fileID: String,
        _ line: Int
    ) throws(RoutingError) -> Registration {
        let pattern = Connection.pattern(of: scheme)
        guard Address.isScheme(scheme) else { throw .noScheme(pattern) }
        let handler = Handler(connector: connector, mailbox: self.homeMailbox, core: self)
        handler.describe(as: .pattern(pattern))
        let folded = self.configuration.conventions.folded(scheme: scheme)
        let (id, replaced) = try self.registry.change { _, connections throws(RoutingError) in
            // Seen under the lock, as in `register`.
            guard self.phase.load(ordering: .sequentiallyConsistent) == .open else {
                throw .shutDown(url: pattern)
            }
            let connection = Connection(
                id: connections.nextID(),
                scheme: folded,
                handler: handler,
                connector: connector,
                fileID: fileID,
                line: line
            )
            return (connection.id, connections.add(connection))
        }
        self.retire(replaced.map { [.connector($0.handler)] } ?? [])
        self.reconfigure()
        return Registration(pattern: pattern, core: self, target: .connection(id))
    }

    /// Takes connectors away, and then fails the callers that wait for them.
    @discardableResult
    func disconnect(where isMeant: (Connection) -> Bool) -> Int {
        let removed = self.registry.change { _, connections in connections.remove(where: isMeant) }
        self.retire(removed.map { .connector($0.handler) })
        if !removed.isEmpty { self.reconfigure() }
        return removed.count
    }
}

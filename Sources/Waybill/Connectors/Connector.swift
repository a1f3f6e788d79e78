public import WaybillRouting

/// A handler for all messages of one scheme, which passes them to another machine, a device or other code.
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
/// A connector handles every URL of its scheme that no registered pattern matches. The bus treats a connector
/// like any other handler: its messages pass through middlewares and are counted, and it may send progress
/// replies with ``Message/reply(with:)``. The connector runs on the bus's loop, in its own task. The task is
/// cancelled when the caller is cancelled, when the deadline passes, or when the connector is disconnected.
///
/// The address of a message contains the text of the URL exactly as the caller wrote it.
///
/// Implement a connector for URLs that are not known in advance. For known URLs use routes, because the
/// patterns of routes also show which URLs exist.
///
/// If ``route(_:)`` throws a `RoutingError` about this message or without a URL, the caller receives this
/// error. Any other error becomes the cause of a `handlerFailed` error. If the other side cannot be reached,
/// throw `unreachable`.
///
/// Declare the method `nonisolated(nonsending)`, as above, in a module without the upcoming feature
/// `NonisolatedNonsendingByDefault`. Otherwise every message makes a detour through the global executor.
public protocol Connector: Sendable {
    /// Accepts a message, or refuses the message by throwing an error.
    ///
    /// The bus calls this method before ``route(_:)``, and does not call `route(_:)` if this method throws.
    /// To refuse a message, throw ``/WaybillRouting/RoutingError/refused(_:cause:)``, which callers can
    /// distinguish from all other failures.
    nonisolated(nonsending) func willRoute(_ message: Message) async throws

    /// Carries a message to its destination.
    ///
    /// - Parameter message: The message, with its caller's parameters, headers and deadline.
    /// - Returns: The reply's value; `()` if there is nothing to return.
    /// - Throws: The reason why the message fails.
    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable

    /// Returns whether a URL of the scheme has a destination, as far as the connector knows without sending a
    /// message.
    ///
    /// ``MessageBus/canRoute(_:)`` returns this result. The bus calls the method on the thread of its caller,
    /// so the method must not block.
    ///
    /// - Parameter address: The address of the URL.
    /// - Returns: false if a message to the URL certainly receives no reply.
    func canRoute(_ address: Address) -> Bool
}

extension Connector {
    /// Accepts every message.
    public nonisolated(nonsending) func willRoute(_ message: Message) async throws {}

    /// Returns true for every URL of the scheme.
    public func canRoute(_ address: Address) -> Bool { true }
}

extension Handler {
    convenience init(connector: any Connector, core: BusCore) {
        self.init(
            boxed: { message in
                try await connector.willRoute(message)
                return try await connector.route(message)
            },
            isConnector: true,
            core: core
        )
    }
}

extension MessageBus {
    /// Connects a scheme to a connector, which handles the messages that no registered pattern matches.
    ///
    /// ```swift
    /// let registration = try bus.connect("memo", to: Memos())
    /// let text: String = try await bus.route("memo://shopping/list")
    /// ```
    ///
    /// A scheme has one connector. Another connector replaces the first connector, and callers that wait for
    /// the first connector fail at once with `noHandler`. Connectors do not slow down messages that a pattern
    /// matches.
    ///
    /// The bus holds the connector while the connector is connected. A connector that routes messages should
    /// therefore hold the bus as `weak`.
    ///
    /// - Parameters:
    ///   - scheme: The scheme without a colon, which is compared according to the bus's conventions.
    ///   - connector: The connector.
    ///   - fileID: The source file of the connection, for statistics.
    ///   - line: The source line of the connection, for statistics.
    /// - Returns: A registration that can disconnect the connector. Dropping the registration does not.
    /// - Throws: `invalidPattern` for a text that is not a valid scheme, for example `https://`, or
    ///   `shutDown`.
    @discardableResult
    public func connect(
        _ scheme: String,
        to connector: some Connector,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Registration {
        let (core, pattern) = (self.core, Connection.pattern(of: scheme))
        guard Address.isScheme(scheme) else { throw .noScheme(pattern) }
        let handler = Handler(connector: connector, core: core)
        handler.describe(as: .pattern(pattern))
        let folded = core.configuration.conventions.folded(scheme: scheme)
        let (id, replaced) = try core.registry.change { _, connections throws(RoutingError) in
            // Check the phase under the lock, so that the shutdown finds a connector that is added.
            try core.checkOpen(for: pattern)
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
        core.retire(replaced.map { [.handler($0.handler)] } ?? [])
        core.reconfigure()
        return Registration(pattern: pattern) { core.disconnect { $0.id == id } }
    }

    /// The schemes that have a connector, sorted.
    public var connectedSchemes: [String] { self.core.registry.connections.schemes.sorted() }
}

extension BusCore {
    /// Removes connectors, and then fails the callers that wait for these connectors.
    @discardableResult
    func disconnect(where isMeant: (Connection) -> Bool) -> Int {
        let removed = self.registry.change { _, connections in connections.remove(where: isMeant) }
        for connection in removed { connection.onEnd?() }
        self.retire(removed.map { .handler($0.handler) })
        if !removed.isEmpty { self.reconfigure() }
        return removed.count
    }
}

extension Address {
    /// Whether the fragment has no scheme, so that it is a position in a web page and not a return URL.
    package var fragmentIsPlace: Bool {
        guard let fragment = self.fragment else { return false }
        return (try? Address(fragment))?.hasScheme != true
    }
}

public import WaybillRouting

extension MessageBus {
    /// Has the messages of a scheme carried by a connector, as far as no registered pattern takes them.
    ///
    /// ```swift
    /// let registration = try bus.connect("memo", to: Memos())
    /// let text: String = try await bus.route("memo://shopping/list")
    /// ```
    ///
    /// A scheme has one connector: another one takes its place, and whoever waits for the first fails at once with
    /// `noHandler`. A pattern that is registered under the scheme is more specific and wins. Messages that a pattern
    /// takes pay nothing for connectors.
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
    public var connectedSchemes: [String] { self.core.directory.connections.schemes.sorted() }
}

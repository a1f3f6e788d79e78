extension MessageBus {
    /// Has the messages of a scheme carried by a connector, as far as no registered pattern takes them.
    ///
    /// ```swift
    /// let registration = bus.connect("memo", to: Memos())
    /// let text: String = try await bus.route("memo://shopping/list")
    /// ```
    ///
    /// A scheme has one connector: another one takes its place, and whoever waits for the first fails at once with
    /// `noHandler`. A pattern that is registered under the scheme is more specific and wins. Messages that a pattern
    /// takes pay nothing for connectors.
    ///
    /// The bus holds the connector while it is connected, so one that routes on should hold the bus `weak`. A text that
    /// can be no scheme, as `https://` cannot, is a warning in the log, and nothing is connected; so is nothing when
    /// the bus has been shut down.
    ///
    /// - Parameters:
    ///   - scheme: the scheme, without a colon, compared as the bus's conventions say.
    ///   - connector: what carries the messages.
    ///   - fileID: where it is connected, for statistics.
    ///   - line: where it is connected, for statistics.
    /// - Returns: what disconnects it; it stays connected if this is dropped.
    @discardableResult
    public func connect(
        _ scheme: String,
        to connector: some Connector,
        fileID: String = #fileID,
        line: Int = #line
    ) -> Registration {
        self.core.connect(scheme, to: connector, fileID, line)
    }

    /// The schemes that have a connector, sorted.
    public var connectedSchemes: [String] { self.core.directory.connections.schemes.sorted() }
}

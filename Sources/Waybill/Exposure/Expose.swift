public import WaybillRouting

extension MessageBus {
    /// Exposes the URLs of a pattern to peers: other processes over sockets, and clients of an HTTP gateway.
    ///
    /// ```swift
    /// try bus.expose("app://user/**", for: .calls)
    /// try bus.expose("app://prices/:symbol", for: [.subscribing])
    /// ```
    ///
    /// Peers can reach only exposed URLs. A URL that is not exposed does not exist for a peer: the peer
    /// receives the same error as for an unknown URL, and no list and no suggestion contains the URL. A
    /// return URL that a peer gave must be exposed too. Exposure does not affect code of this process.
    ///
    /// Exposure applies to URLs and not to routes. For example, `app://user/:id` also exposes
    /// `app://user/me`, even if another route handles that URL, now or later. An exposed URL of a connector's
    /// scheme reaches the connector. A URL with the segment `.` or `..` is never exposed.
    ///
    /// Exposing a pattern and cancelling the exposure affect only messages that arrive later. Any thread may
    /// call this method.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs, as for a route.
    ///   - operations: The operations that peers may perform.
    /// - Returns: A registration that can end the exposure. Dropping the registration does not.
    /// - Throws: `invalidPattern`, or `shutDown`.
    @discardableResult
    public func expose(
        _ pattern: String,
        for operations: ExposedOperations = .calls
    ) throws(RoutingError) -> Registration {
        try self.core.expose(pattern, operations, to: .peers)
    }

    /// Returns the operations that a peer may perform on a URL, for tests of the URLs that a program exposes.
    ///
    /// The method does not run a handler's code. The result is the union of the operations of all matching
    /// patterns, and is empty for a text that is not a URL.
    public func exposedOperations(of url: String) -> ExposedOperations {
        (try? self.core.exposures.operations(at: url)) ?? []
    }
}

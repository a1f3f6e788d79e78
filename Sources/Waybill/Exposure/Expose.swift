internal import Synchronization
public import WaybillRouting

extension MessageBus {
    /// Exposes the URLs of a pattern to peers: other processes over sockets, and clients of an HTTP gateway.
    ///
    /// ```swift
    /// try bus.expose("app://user/**", for: .calls)
    /// try bus.expose("app://prices/:symbol", for: [.subscribing])
    /// ```
    ///
    /// Peers can reach only exposed URLs. For a peer, a URL that is not exposed does not exist: the peer
    /// receives the same error as for an unknown URL, with suggestions from exposed URLs only, and no list
    /// contains the URL. A return URL that came from a peer must be exposed too. Code of this process is not
    /// affected.
    ///
    /// Exposure applies to URLs and not to routes. For example, `app://user/:id` also exposes
    /// `app://user/me`, even if another route handles that URL or is registered for it later. An exposed URL
    /// of a connector's scheme reaches the connector. A URL with the segment `.` or `..` is never exposed.
    ///
    /// Exposing a pattern and cancelling the exposure apply to messages that arrive afterwards. They affect
    /// neither routes nor messages in flight. This method can be called from any thread.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs, as for a route.
    ///   - operations: The operations that peers may perform.
    /// - Returns: A registration that can end the exposure. The URLs stay exposed when the registration is
    ///   dropped.
    /// - Throws: `invalidPattern`, or `shutDown`.
    @discardableResult
    public func expose(
        _ pattern: String,
        for operations: ExposedOperations = .calls
    ) throws(RoutingError) -> Registration {
        guard self.core.phase.load(ordering: .sequentiallyConsistent) == .open else {
            throw .shutDown(url: pattern)
        }
        let id = try self.core.exposures.insert(pattern, operations)
        self.core.registry.noteChange()
        return Registration(pattern: pattern, core: self.core, target: .exposure(id))
    }

    /// Returns the operations that a peer may perform on a URL.
    ///
    /// No code of a handler is run.
    ///
    /// Use this method in tests of the URLs that a program exposes.
    ///
    /// - Parameter url: The URL. The result is empty for a text that is not a URL.
    /// - Returns: The union of the operations of all matching patterns.
    public func exposedOperations(of url: String) -> ExposedOperations {
        (try? self.core.exposures.operations(at: url)) ?? []
    }
}

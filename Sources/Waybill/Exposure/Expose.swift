internal import Synchronization
public import WaybillRouting

extension MessageBus {
    /// Lets peers reach the URLs of a pattern: other processes over sockets, and clients of an HTTP gateway.
    ///
    /// ```swift
    /// try bus.expose("app://user/**", for: .calls)
    /// try bus.expose("app://prices/:symbol", for: [.subscribing])
    /// ```
    ///
    /// Nothing is reachable from outside until it is exposed. What is not exposed is for a peer what does not
    /// exist: it gets the same error, with suggestions over what is exposed, and finds it in no list. A
    /// return URL that came from outside is held to the same rule. Code of this process is not concerned.
    ///
    /// What is exposed are URLs, and not routes: `app://user/:id` exposes `app://user/me` too, although that
    /// may have a route of its own, and also one that is registered later. What is exposed for a connector's
    /// scheme reaches the connector. A URL with `.` or `..` as a segment is never exposed.
    ///
    /// Exposing and taking it back takes effect for messages that arrive afterwards, and disturbs neither
    /// routes nor messages on their way. It can be called from any thread.
    ///
    /// - Parameters:
    ///   - pattern: the URLs, as for a route.
    ///   - operations: what peers may do with them.
    /// - Returns: what takes it back; it stays exposed if this is dropped.
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

    /// What a peer may do with a URL; nothing is run.
    ///
    /// Use it in tests of what a program exposes.
    ///
    /// - Parameter url: the URL; nothing is exposed of a text that is no URL.
    /// - Returns: what all patterns say that match it.
    public func exposedOperations(of url: String) -> ExposedOperations {
        (try? self.core.exposures.operations(at: url)) ?? []
    }
}

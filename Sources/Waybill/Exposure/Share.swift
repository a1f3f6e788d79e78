internal import Synchronization
public import WaybillRouting

extension MessageBus {
    /// Lets the other nodes of a cluster reach the URLs of a pattern.
    ///
    /// ```swift
    /// try bus.share("app://billing/**")
    /// ```
    ///
    /// Nothing is reachable for other nodes until it is shared; what is shared is not exposed to sockets and
    /// HTTP, and the reverse. The words and the rules are those of ``expose(_:for:)``: what is shared are
    /// URLs, and what is not shared is for a node what does not exist. A node of the same cluster that routes
    /// such a URL, and has no route of its own for it, has it handled here; one that publishes to it reaches
    /// the subscribers of this bus, if it is shared for ``ExposedOperations/publishing``.
    ///
    /// Values that cross to another node have to be `Encodable` where they are sent and `Decodable` where they
    /// are read; ``validate(urls:services:)`` names the shared routes that declare others.
    ///
    /// It has no effect before the bus has joined a cluster, with `WaybillNATS`, and can be called before and
    /// after that, from any thread.
    ///
    /// - Parameters:
    ///   - pattern: the URLs, as for a route.
    ///   - operations: what nodes may do with them.
    /// - Returns: what takes it back; it stays shared if this is dropped.
    /// - Throws: `invalidPattern`, or `shutDown`.
    @discardableResult
    public func share(
        _ pattern: String,
        for operations: ExposedOperations = .calls
    ) throws(RoutingError) -> Registration {
        guard self.core.phase.load(ordering: .sequentiallyConsistent) == .open else {
            throw .shutDown(url: pattern)
        }
        let id = try self.core.shares.insert(pattern, operations)
        self.core.registry.noteChange()
        return Registration(pattern: pattern, core: self.core, target: .share(id))
    }

    /// What another node may do with a URL; nothing is run.
    ///
    /// Use it in tests of what a program shares.
    ///
    /// - Parameter url: the URL; nothing is shared of a text that is no URL.
    /// - Returns: what all patterns say that match it.
    public func sharedOperations(of url: String) -> ExposedOperations {
        (try? self.core.shares.operations(at: url)) ?? []
    }
}

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
    /// Values that cross to another node have to be `Encodable` where they are sent and `Decodable` where
    /// they are read; ``validate(urls:services:)`` names the shared routes that declare others.
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

extension BusCore {
    /// The routes that are shared and whose values cannot cross to another node, as far as types are known.
    func problemsWithShares() -> [RoutingError] {
        let shared = Set(self.shares.visibleRoutes(of: self).descriptions.map(\.pattern))
        guard !shared.isEmpty else { return [] }
        let problems = try? self.registry.read { table throws(RoutingError) in
            table.routes.compactMap { route -> RoutingError? in
                guard shared.contains(route.pattern.text),
                    let type = table.handler(for: route.id)?.replyType,
                    !Self.isTransferable(type)
                else { return nil }
                return RoutingError(
                    .notTransferable,
                    url: route.pattern.text,
                    message: "it is shared with other nodes, and returns \(TypeName.of(type)), "
                        + "which is not Codable"
                )
            }
        }
        return problems ?? []
    }

    /// Whether values of a type can be sent to another node, or may turn out to be such values.
    private static func isTransferable(_ type: any Any.Type) -> Bool {
        if type == Void.self || type == (any Sendable).self || type is any EncodedValue.Type { return true }
        if type is any Encodable.Type || type is any CollectionOfAny.Type { return true }
        if let wrapping = type as? any OptionalType.Type { return self.isTransferable(wrapping.wrapped) }
        return false
    }
}

/// An optional type, whose values are transferable if what it wraps is.
private protocol OptionalType {
    static var wrapped: any Any.Type { get }
}

extension Optional: OptionalType {
    fileprivate static var wrapped: any Any.Type { Wrapped.self }
}

/// Collections that are written element by element.
private protocol CollectionOfAny {}

extension [any Sendable]: CollectionOfAny {}
extension [String: any Sendable]: CollectionOfAny {}

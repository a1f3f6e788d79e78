public import WaybillRouting

extension MessageBus {
    /// Shares the URLs of a pattern with the other nodes, which are processes of the same cluster.
    ///
    /// ```swift
    /// try bus.share("app://billing/**")
    /// ```
    ///
    /// Other nodes can reach only shared URLs. A shared URL is not exposed to sockets and HTTP, and an
    /// exposed URL is not shared. The rules of ``expose(_:for:)`` also apply here.
    ///
    /// When another node routes a shared URL for which it has no route, this bus handles the message. When
    /// another node publishes to a URL that is shared for ``ExposedOperations/publishing``, the subscribers
    /// of this bus receive the message.
    ///
    /// A value that is sent to another node must be `Encodable` at the sender and `Decodable` at the reader.
    /// ``validate(urls:services:)`` reports shared routes that declare other values.
    ///
    /// Sharing has no effect until the bus joins a cluster with `WaybillNATS`. Any thread may call this
    /// method, before or after the bus has joined.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs, as for a route.
    ///   - operations: The operations that other nodes may perform.
    /// - Returns: A registration that can end the sharing. Dropping the registration does not.
    /// - Throws: `invalidPattern`, or `shutDown`.
    @discardableResult
    public func share(
        _ pattern: String,
        for operations: ExposedOperations = .calls
    ) throws(RoutingError) -> Registration {
        try self.core.expose(pattern, operations, to: .nodes)
    }

    /// Returns the operations that another node may perform on a URL, like ``exposedOperations(of:)``.
    public func sharedOperations(of url: String) -> ExposedOperations {
        (try? self.core.shares.operations(at: url)) ?? []
    }
}

extension BusCore {
    /// Returns an error for each shared route whose values cannot be sent to another node, as far as the
    /// types of the values are known.
    func problemsWithShares() -> [RoutingError] {
        let shared = Set(self.shares.visibleRoutes(of: self).descriptions.map(\.pattern))
        guard !shared.isEmpty else { return [] }
        return self.registry.withTable { table in
            table.entries.compactMap { route, target -> RoutingError? in
                guard shared.contains(route.pattern.text), let type = target.replyType,
                    !Self.isTransferable(type)
                else { return nil }
                let message =
                    "the route is shared with other nodes, but its reply type \(TypeName.of(type)) is not "
                    + "Codable; make the type Codable or unshare the route"
                return RoutingError(.notTransferable, url: route.pattern.text, message: message)
            }
        }
    }

    /// Returns whether a value of a type can be sent to another node, or possibly has a dynamic type that can
    /// be sent.
    private static func isTransferable(_ type: any Any.Type) -> Bool {
        if type == Void.self || type == (any Sendable).self || type is any EncodedValue.Type { return true }
        // These collections are encoded element by element.
        if type == [any Sendable].self || type == [String: any Sendable].self { return true }
        if let optional = type as? any AnyOptional.Type { return self.isTransferable(optional.wrapped) }
        return type is any Encodable.Type
    }
}

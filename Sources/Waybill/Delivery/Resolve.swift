internal import WaybillEventLoop
internal import WaybillRouting

/// Where a URL leads.
enum Target: Sendable {
    /// A handler of this process.
    case handler(Handler)
    /// Several instances of a module, of which one handles each message; or one handler behind a configured
    /// target.
    case instances(InstanceGroup)
    /// The connector of the URL's scheme, or the cluster that the bus has joined.
    case connector(Handler)
    /// Nothing, for a reason.
    indirect case missing(RoutingError)
}

/// Where one message goes: the target, and the values that its pattern took from the URL.
///
/// It is a tuple, whose parts are moved out without being copied.
typealias ResolvedRoute = (target: Target, parameters: Parameters)

extension BusCore {
    /// Finds out where a request goes: the second step of every message.
    ///
    /// - Parameters:
    ///   - request: What the caller asks for.
    ///   - shard: The shard of the calling thread; nil when the thread runs no loop of the bus.
    /// - Returns: The handler or the connector, and the parameters of the message. The target is
    ///   ``Target/missing(_:)`` when nothing takes the URL.
    @inline(__always)
    func resolve(_ request: borrowing Request, on shard: BorrowedShard?) -> ResolvedRoute {
        guard let shard else { return self.registry.resolve(request.url, request.passed, on: nil) }
        return shard.resolve(request)
    }

    /// Returns the message as observers and the uncaught handler see it: what could be read from the URL, the
    /// values of the closest pattern included, and what the caller gave.
    func unmatched(_ request: Request, id: CorrelationID) -> Message? {
        let closest = try? self.registry.read { table throws(RoutingError) in
            table.closestParameters(of: request.url)
        }
        let parameters =
            (closest ?? nil) ?? (try? self.address(of: request.url)).map { Parameters(address: $0) }
        return parameters.map { request.message(id: id, parameters: $0) }
    }

    /// Returns the address in a URL.
    ///
    /// - Throws: `invalidURL`.
    func address(of url: String) throws(RoutingError) -> Address {
        try self.registry.read { table throws(RoutingError) in try table.address(of: url) }
    }
}

extension RouteTable where Handler == Target {
    /// Returns the target of a URL: a handler, one instance of several, a connector, or the reason that there
    /// is none.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - passed: The values that are passed with the call; one of them may name the instance.
    ///   - loop: The loop that the caller is on, if it is one of the bus's.
    ///   - connections: The connectors, which take the URLs that no route takes.
    /// - Returns: The target, and the parameters of the URL.
    @inline(__always)
    func resolve(
        _ url: String,
        _ passed: PassedValues?,
        on loop: ObjectIdentifier?,
        connections: Connections
    ) -> ResolvedRoute {
        var failure: RoutingError?
        do throws(RoutingError) {
            if let match = try self.match(url), let target = self[match] {
                if case .instances(let group) = target {
                    return group.resolve(match.parameters, passed, on: loop)
                }
                return (target, match.take())
            }
        } catch {
            failure = error
        }
        return self.resolveConnector(url, connections, failure: failure)
    }

    /// Returns the connector of a URL's scheme.
    ///
    /// - Parameters:
    ///   - url: The URL, which no route takes.
    ///   - connections: The connectors.
    ///   - failure: Why the table did not look for a route, if it did not.
    /// - Returns: The connector, or the reason that there is none.
    @inline(never)
    private func resolveConnector(
        _ url: String,
        _ connections: Connections,
        failure: RoutingError?
    ) -> ResolvedRoute {
        let address: Address
        do throws(RoutingError) {
            address = try self.address(of: url)
        } catch {
            return (.missing(error), .none)
        }
        let parameters = Parameters(address: address)
        if let connection = connections[address.scheme] {
            return (.connector(connection.handler), parameters)
        }
        if let (connection, nodes) = connections.cluster, nodes.canRoute(address) {
            return (.connector(connection.handler), parameters)
        }
        let error = self.noTarget(for: address, connections, failure: failure)
        return (.missing(error), self.closestParameters(of: url) ?? parameters)
    }
}

// What registrations, documents and the console ask of a target.
extension Target {
    @inline(__always)
    var handler: Handler? {
        switch self {
        case .handler(let handler), .connector(let handler): handler
        case .instances, .missing: nil
        }
    }

    /// Why there is no handler.
    var failure: RoutingError {
        if case .missing(let error) = self { return error }
        return RoutingError(.noHandler, message: "the route has no handler")
    }

    var group: InstanceGroup? { if case .instances(let group) = self { group } else { nil } }

    /// The handlers that messages may reach.
    var members: [Handler] {
        switch self {
        case .handler(let handler), .connector(let handler): [handler]
        case .instances(let group): group.members
        case .missing: []
        }
    }

    /// What the target is registered for, also after that has ended.
    var description: Handler.Description? {
        switch self {
        case .handler(let handler), .connector(let handler): handler.description
        case .instances(let group): group.description
        case .missing: nil
        }
    }

    var pattern: String? { self.description?.pattern }

    /// The description of the module's route that the target handles, if it is one.
    var routeDescription: RouteDescription? { self.description?.route }

    /// Sets what the target is registered for.
    func describe(as description: Handler.Description) {
        self.group?.describe(as: description)
        for member in self.members { member.describe(as: description) }
    }

    /// The type of the values that the handlers return; nil if it is not known.
    var replyType: (any Any.Type)? { self.members.first?.code.replyType }

    /// Whether a message would reach a handler.
    var canBeReached: Bool { self.members.contains(where: \.canBeReached) }

    /// The statistics of the route.
    var statistics: BusStatistics { self.members.reduce(BusStatistics()) { $0 + $1.counters.statistics } }

    /// Fails all waiting messages but the exempt ones, and all later messages.
    func retire(with reason: @escaping @Sendable (String) -> RoutingError, exempting exempt: [Exchange] = [])
    {
        for member in self.members { member.retire(with: reason, exempting: exempt) }
    }

    /// Returns a target that runs the same code for another route, with the values of a configured target.
    func sharing(_ configured: ConfiguredTarget?) -> Target {
        switch self {
        case .handler(let handler), .connector(let handler):
            let shared = Handler(sharing: handler)
            return configured.map { .instances(InstanceGroup([shared], by: .single, configured: $0)) }
                ?? .handler(shared)
        case .instances(let group):
            let members = group.members.map { Handler(sharing: $0) }
            return .instances(
                InstanceGroup(members, by: group.choice, configured: configured ?? group.configured)
            )
        case .missing: return self
        }
    }

    /// Whether two targets are the same object.
    static func === (left: Self, right: Self) -> Bool { left.identity == right.identity }

    var identity: ObjectIdentifier? {
        switch self {
        case .handler(let handler), .connector(let handler): ObjectIdentifier(handler)
        case .instances(let group): ObjectIdentifier(group)
        case .missing: nil
        }
    }
}

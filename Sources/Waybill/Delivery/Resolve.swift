internal import WaybillEventLoop
internal import WaybillRouting

/// The destination of a URL.
enum Target: Sendable {
    /// A handler of this process, the connector of the URL's scheme, or the cluster that the bus has joined.
    case handler(Handler)
    /// The instances of a module, or a single handler with a configured target. The bus chooses one instance
    /// for each message.
    case instances(InstanceGroup)
    /// No destination, with the reason.
    indirect case missing(RoutingError)
}

/// The destination of one message, and the parameters that its pattern extracted from the URL.
///
/// The type is a tuple because Swift can move each element out of a tuple without a copy.
typealias ResolvedRoute = (target: Target, parameters: Parameters)

extension BusCore {
    /// Returns the destination of a request, in the second step of every message.
    ///
    /// On a loop, the method takes a lock only when the routes have changed very recently.
    func resolve(_ request: borrowing Request, on shard: BorrowedShard?) -> ResolvedRoute {
        guard let shard, let snapshot = shard.currentSnapshot else {
            return self.registry.resolve(request.url, request.passed, on: shard?.loop)
        }
        return snapshot.table.findTarget(
            of: request.url,
            request.passed,
            on: shard.loop,
            connections: snapshot.value.connections
        )
    }

    /// Returns the message of a request that no pattern matches, for observers and the handler for unmatched
    /// URLs.
    ///
    /// The message has the arguments of the caller and the parameters of the closest pattern. Returns nil
    /// when the URL is invalid.
    func unmatched(_ request: Request, id: CorrelationID) -> Message? {
        let closest = try? self.registry.withTable { table throws(RoutingError) in
            table.closestParameters(of: request.url)
        }
        let parameters =
            (closest ?? nil) ?? (try? self.registry.address(of: request.url)).map { Parameters(address: $0) }
        return parameters.map { request.message(id: id, parameters: $0) }
    }
}

// `Handler` is the generic parameter of the table here, and not the class of that name.
extension RouteTable where Handler == Target {
    /// Returns the target of a URL.
    ///
    /// The values passed with the call (`passed`) may select the instance of a module. If `choosesInstance` is
    /// false, the caller must choose the instance.
    @inline(__always)
    func findTarget(
        of url: String,
        _ passed: PassedValues?,
        on loop: ObjectIdentifier?,
        choosesInstance: Bool = true,
        connections: @autoclosure () -> Connections
    ) -> ResolvedRoute {
        var failure: RoutingError?
        do throws(RoutingError) {
            if let match = try self.match(url), let target = self[match] {
                if choosesInstance, case .instances(let group) = target {
                    return group.resolve(match.parameters, passed, on: loop)
                }
                return (target, match.take())
            }
        } catch {
            failure = error
        }
        return self.findConnector(of: url, connections(), failure: failure)
    }

    /// Returns the connector of the scheme, or the cluster, for a URL that has no route.
    ///
    /// `failure` is the error of the match; nil when no pattern matched.
    @inline(never)
    private func findConnector(
        of url: String,
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
            return (.handler(connection.handler), parameters)
        }
        if let (connection, nodes) = connections.cluster, nodes.canRoute(address) {
            return (.handler(connection.handler), parameters)
        }
        let error = self.noTarget(for: address, connections, failure: failure)
        return (.missing(error), self.closestParameters(of: url) ?? parameters)
    }
}

// Properties of a target for registrations, documents and the console.
extension Target {
    var handler: Handler? {
        switch self {
        case .handler(let handler): handler
        case .instances, .missing: nil
        }
    }

    /// The reason why the target has no handler.
    var failure: RoutingError {
        if case .missing(let error) = self { return error }
        return RoutingError(.noHandler, message: "the route has no handler: register one")
    }

    var group: InstanceGroup? { if case .instances(let group) = self { group } else { nil } }

    /// The handlers that messages may reach.
    var members: [Handler] {
        switch self {
        case .handler(let handler): [handler]
        case .instances(let group): group.members
        case .missing: []
        }
    }

    /// The description of the registration, which is kept after the target is unregistered.
    var description: Handler.Description? { self.members.first?.description }

    var pattern: String? { self.description?.pattern }

    /// The description of the module's route; nil when the target does not belong to a module.
    var routeDescription: RouteDescription? { self.description?.route }

    func describe(as description: Handler.Description) {
        for member in self.members { member.describe(as: description) }
    }

    /// The type of the values that the handlers return; nil when the type is unknown.
    var replyType: (any Any.Type)? { self.members.first?.code.replyType }

    /// Whether a message to this target would reach a handler.
    var canBeReached: Bool { self.members.contains(where: \.canBeReached) }

    var statistics: BusStatistics { self.members.reduce(BusStatistics()) { $0 + $1.counters.statistics } }

    /// Fails all waiting messages except the exempt ones, and all later messages.
    func retire(with reason: @escaping @Sendable (String) -> RoutingError, exempting exempt: [Exchange] = [])
    {
        for member in self.members { member.retire(with: reason, exempting: exempt) }
    }

    /// Returns a target that runs the same code as this target for another route, with the values of
    /// `configured`.
    ///
    /// When `configured` is nil, the new target keeps the values of this target.
    func sharing(_ configured: ConfiguredTarget?) -> Target {
        let members = self.members.map { Handler(sharing: $0) }
        guard let first = members.first else { return self }
        let configured = configured ?? self.group?.configured
        if self.group == nil, configured == nil { return .handler(first) }
        return .instances(InstanceGroup(members, by: self.group?.choice ?? .single, configured: configured))
    }

    static func === (left: Self, right: Self) -> Bool { left.identity == right.identity }

    var identity: ObjectIdentifier? {
        switch self {
        case .handler(let handler): ObjectIdentifier(handler)
        case .instances(let group): ObjectIdentifier(group)
        case .missing: nil
        }
    }
}

internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The actions that the modules of a bus declare, as modules come and go.
///
/// It knows the routes of modules by their IDs, so that it keeps no module which has been taken out.
final class ModuleActions: Sendable {
    private let core: BusCore
    private let cache = Locked<(generation: Int, actions: Actions)?>(nil)

    init(_ core: BusCore) { self.core = core }

    /// The actions as they are now.
    var current: Actions {
        // Before they are read: if they change meanwhile, they are read again.
        let generation = self.core.directory.generation.load(ordering: .acquiring)
        if let cached = self.cache.withLock({ $0 }), cached.generation == generation { return cached.actions }
        let actions = self.read()
        self.cache.withLock { $0 = (generation, actions) }
        return actions
    }

    private func read() -> Actions {
        let routes = try? self.core.directory.read { table throws(RoutingError) in
            table.routes.compactMap { route -> (RouteID, RouteDescription)? in
                guard case .route(let description) = table.handler(for: route.id)?.description else {
                    return nil
                }
                return (route.id, description)
            }
        }
        var actions = Actions()
        for (id, description) in routes ?? [] {
            guard let target = description.target, let name = description.action else { continue }
            let core = self.core
            let action = Actions.Action(name: name, target: target, values: description.values) { message in
                try await core.act(id, message)
            }
            // Of two that cannot be told apart the one that was registered first counts.
            try? actions.add(action)
        }
        return actions
    }
}

extension BusCore {
    /// Has a route handle a message that another handler got.
    fileprivate nonisolated(nonsending) func act(
        _ route: RouteID,
        _ message: Message
    ) async throws(RoutingError) -> any Sendable {
        let handler = try self.directory.read { table throws(RoutingError) in table.handler(for: route) }
        guard let handler else { throw .unregistered(url: message.parameters.url) }
        let member = handler.member(on: self.currentLane?.loop, message.parameters, nil)
        return try await self.hop(message, member).value()
    }
}

extension RouteDescription {
    /// The name of the module without `Module` at its end.
    fileprivate var target: String? {
        guard let module = self.module else { return nil }
        let suffix = "Module"
        return module.hasSuffix(suffix) && module != suffix ? String(module.dropLast(suffix.count)) : module
    }

    /// Whether the method needs values.
    fileprivate var values: Actions.Action.Values {
        if self.parameters.isEmpty { return .none }
        return self.parameters.contains(where: \.isRequired) ? .needed : .optional
    }
}

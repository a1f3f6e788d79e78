internal import WaybillEventLoop
package import WaybillRouting

// The interface for connectors whose URLs name the methods of installed modules.
extension MessageBus {
    /// The number of changes of the routes.
    package var routeGeneration: Int { self.core.registry.generation }

    /// The routes of the installed modules, with their descriptions.
    ///
    /// A configured route is not an action itself, unless it hides the module's route of the same action.
    package var moduleActions: [(route: RouteID, description: RouteDescription)] {
        self.core.configured.withLock { register in
            let bound = Set(register.boundRoutes.map(\.value).filter { !$0.hidesItsAction }.map(\.id))
            return self.core.registry.withTable { table in
                table.entries.compactMap { route, target in
                    bound.contains(route.id) ? nil : target.routeDescription.map { (route.id, $0) }
                }
            }
        }
    }

    /// Passes a message of a connector to the handler of a route.
    ///
    /// - Throws: `noHandler` if the route has been unregistered, or the error of the handler.
    package nonisolated(nonsending) func act(
        _ route: RouteID,
        _ message: Message
    ) async throws(RoutingError) -> any Sendable {
        let core = self.core
        let target = core.registry.withTable { $0.handler(for: route) }
        let member = target?.group?.resolve(message.parameters, nil, on: core.currentShard?.loop)
        guard let handler = member?.target.handler ?? target?.handler else {
            throw .unregistered(url: message.parameters.url)
        }
        return try await handler.runInTurn(message).value()
    }
}

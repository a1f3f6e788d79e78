#if HTTP
internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import Waybill
internal import WaybillJSON

extension WaybillGateway {
    /// The routes `live` and `ready`, for a router whose context is `BasicRequestContext`.
    ///
    /// ```swift
    /// router.addRoutes(gateway.healthRoutes, atPath: "/health")
    /// ```
    ///
    /// `live` answers 200 for as long as the server answers. `ready` answers 200 if the bus is open, its loops
    /// turn, and the checks succeed that were added with `addReadinessCheck(_:_:)`; otherwise 503 with the names
    /// of the failures, and the reasons are logged. Both answer GET for any host, since an orchestrator knows a
    /// machine by its address.
    public var healthRoutes: RouteCollection<BasicRequestContext> {
        self.healthRoutes(for: BasicRequestContext.self)
    }

    /// The routes `live` and `ready`, for a router with another context.
    ///
    /// - Parameter context: the type of the context.
    /// - Returns: the routes, to be added to the router.
    public func healthRoutes<Context: RequestContext>(for context: Context.Type) -> RouteCollection<Context> {
        let routes = RouteCollection(context: context)
        routes.get("live") { _, _ in Self.health("live", []) }
        routes.get("ready") { _, _ in
            let readiness = await self.bus.readiness(within: self.configuration.readinessTime)
            for problem in readiness.problems {
                self.configuration.logger.notice(
                    "not ready",
                    metadata: ["name": "\(problem.name)", "reason": "\(problem.reason.onShortLine)"]
                )
            }
            return Self.health("ready", readiness.problems.map(\.name))
        }
        return routes
    }

    private static func health(_ name: String, _ failed: [String]) -> Response {
        var members: [String: any Sendable] = ["status": failed.isEmpty ? name : "unavailable"]
        if !failed.isEmpty { members["failed"] = failed }
        // Texts are always encoded.
        let json = (try? JSONWriter.encoded(members)) ?? []
        return Response(status: failed.isEmpty ? .ok : .serviceUnavailable, json: json)
    }
}
#endif

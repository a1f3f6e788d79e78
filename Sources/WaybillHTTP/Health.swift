#if HTTP
internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON

extension WaybillGateway {
    /// The routes `live` and `ready`, for a router whose context is `BasicRequestContext`.
    ///
    /// ```swift
    /// router.addRoutes(gateway.healthRoutes, atPath: "/health")
    /// ```
    ///
    /// `live` responds with 200 whenever the server can respond. `ready` responds with 200 if the bus is
    /// open, its loops respond, and all checks of `addReadinessCheck(_:_:)` succeed. Otherwise, `ready`
    /// responds with 503 and the names of the failed checks. The gateway logs when a check begins to fail,
    /// with the reason, and when the check succeeds again. Both routes accept GET requests for any host name,
    /// because an orchestrator uses the IP address of a machine.
    public var healthRoutes: RouteCollection<BasicRequestContext> {
        self.healthRoutes(for: BasicRequestContext.self)
    }

    /// Returns the routes `live` and `ready` for a router with another context.
    ///
    /// - Parameter context: The type of the context.
    /// - Returns: The routes to add to a router.
    public func healthRoutes<Context: RequestContext>(for context: Context.Type) -> RouteCollection<Context> {
        let routes = RouteCollection(context: context)
        routes.get("live") { _, _ in Self.health("live", []) }
        routes.get("ready") { _, _ in
            let limit = self.configuration.readinessTime
            let readiness = await self.readiness.report(of: self.bus, within: limit)
            self.readiness.logChanges(readiness, to: self.configuration.logger)
            return Self.health("ready", readiness.problems.map(\.name))
        }
        return routes
    }

    private static func health(_ name: String, _ failed: [String]) -> Response {
        var members: [String: any Sendable] = ["status": failed.isEmpty ? name : "unavailable"]
        if !failed.isEmpty { members["failed"] = failed }
        // Encoding texts never fails.
        let json = (try? JSONWriter.encoded(members)) ?? []
        return Response(status: failed.isEmpty ? .ok : .serviceUnavailable, json: json)
    }
}

/// The report on readiness that is being made, which all requests share that arrive in the meantime.
///
/// Each report runs all checks, so without sharing, clients could run any number of checks at the same time.
final class SharedReadiness: Sendable {
    private let report = Locked<Task<Readiness, Never>?>(nil)
    /// The names of the checks whose failure was logged, and which have not succeeded since.
    private let failing = Locked<Set<String>>([])

    func report(of bus: MessageBus, within limit: Duration) async -> Readiness {
        var report = await self.sharedReport(of: bus, within: limit)
        // The bus may have been shut down after the report began. Requests share the next report too.
        while !bus.isOpen, !report.problems.contains(where: { $0.name == "bus" }) {
            report = await self.sharedReport(of: bus, within: limit)
        }
        return report
    }

    /// Logs the checks that fail for the first time, and the checks that succeed again.
    func logChanges(_ readiness: Readiness, to logger: Logger) {
        let failing = Set(readiness.problems.map(\.name))
        let previous = self.failing.withLock { previous in
            defer { previous = failing }
            return previous
        }
        for problem in readiness.problems where !previous.contains(problem.name) {
            let metadata: Logger.Metadata = [
                "name": "\(problem.name)", "reason": "\(problem.reason.onShortLine)",
            ]
            logger.notice("not ready", metadata: metadata)
        }
        for name in previous.subtracting(failing).sorted() {
            logger.notice("ready again", metadata: ["name": "\(name)"])
        }
    }

    private func sharedReport(of bus: MessageBus, within limit: Duration) async -> Readiness {
        await self.report.withLock { report in
            let shared =
                report
                ?? Task {
                    let readiness = await bus.readiness(within: limit)
                    self.report.withLock { $0 = nil }
                    return readiness
                }
            report = shared
            return shared
        }.value
    }
}
#endif

package import WaybillEventLoop
package import WaybillRouting

// What a console shows of a bus beside its messages, and what its operator does; for sibling targets.
extension MessageBus {
    /// The loops of the bus.
    package var eventLoops: [EventLoop] { self.core.eventLoops }

    /// The mailboxes of the routes that are registered now, in the order of registration.
    package var routeLoads: [RouteLoad] {
        let loads = try? self.core.registry.read { table throws(RoutingError) in
            table.routes.compactMap { route in
                table.handler(for: route.id).map { target in
                    RouteLoad(
                        pattern: route.pattern.text,
                        waiting: target.members.reduce(0) { $0 + $1.mailbox.waiting },
                        limit: target.members.first?.mailbox.limit ?? 0
                    )
                }
            }
        }
        return loads ?? []
    }

    /// Explains a URL by the routes that are registered now; calls no handler.
    package func explain(_ url: String) -> Explanation {
        let explanation = try? self.core.registry.read { table throws(RoutingError) in table.explain(url) }
        return explanation ?? self.core.currentConfiguration.table(of: Void.self).explain(url)
    }

    /// The cluster that the bus has joined, as its node sees it; nil if it has joined none.
    package var cluster: ClusterView? {
        self.core.registry.cluster?.view
    }

    /// Routes what an operator asks for.
    ///
    /// - Returns: the ID of the message, and its value or why there is none.
    package nonisolated(nonsending) func perform(
        _ act: OperatorRequest
    ) async -> (id: CorrelationID, result: Result<any Sendable, RoutingError>) {
        var request = act.content
        request.limit(to: act.timeout, by: self.core.time)
        let delivered = await self.core.route(request)
        return (delivered.id, delivered.outcome.result)
    }
}

/// How many messages wait for a route.
package struct RouteLoad: Sendable {
    package let pattern: String
    /// How many messages wait in its mailbox, which it may share with other routes, or are in progress there.
    package let waiting: Int
    /// How many may.
    package let limit: Int
}

/// A message that an operator of the program sends: a call, or a dead letter once more.
package struct OperatorRequest: Sendable {
    fileprivate let content: Request
    fileprivate let timeout: Duration

    /// A call.
    package init(_ url: String, parameters: [String: any Sendable], timeout: Duration) {
        self.content = Request(url: url, passed: .make(parameters))
        self.timeout = timeout
    }

    /// A message once more: with its parameters, headers and payload, from where it came, but without its
    /// deadline.
    ///
    /// - Parameters:
    ///   - message: the message, which is the cause of the new one.
    ///   - headers: more headers.
    ///   - timeout: how long to wait for the reply.
    package init(replaying message: Message, headers: [String: String], timeout: Duration) {
        self.content = Request(
            url: message.parameters.url,
            passed: message.parameters.passed,
            extras: MessageExtras(
                payload: message.extras?.payload,
                headers: message.headers.merging(headers) { _, new in new },
                correlationID: message.correlationID,
                external: message.extras?.external,
                provenance: MessageProvenance(kind: .request, cause: message.id)
            )
        )
        self.timeout = timeout
    }
}

package import WaybillEventLoop
package import WaybillRouting

// The state of a bus, and messages that an operator sends. Sibling targets, such as a console, use this
// interface.
extension MessageBus {
    /// The loops of the bus.
    package var eventLoops: [EventLoop] { self.core.eventLoops }

    /// The loads of the mailboxes of the current routes, in the order of registration.
    package var routeLoads: [RouteLoad] {
        self.core.registry.withTable { table in
            table.entries.map { route, target in
                RouteLoad(
                    pattern: route.pattern.text,
                    waiting: target.members.reduce(0) { $0 + $1.mailbox.waiting },
                    limit: target.members.first?.mailbox.limit ?? 0
                )
            }
        }
    }

    /// Explains how the current routes match a URL.
    ///
    /// The method calls no handler.
    package func explain(_ url: String) -> Explanation { self.core.registry.withTable { $0.explain(url) } }

    /// The state of the cluster that the bus has joined; nil when the bus has not joined a cluster.
    package var cluster: ClusterView? {
        self.core.registry.cluster?.view
    }

    /// Routes a message that an operator sends.
    ///
    /// - Returns: The ID of the message, and its value or the reason why it failed.
    package nonisolated(nonsending) func perform(
        _ act: OperatorRequest
    ) async -> (id: CorrelationID, result: Result<any Sendable, RoutingError>) {
        var request = act.content
        request.limit(to: act.timeout, by: self.core.time)
        let delivered = await self.core.deliverAndWait(request)
        return (delivered.id, delivered.outcome.result)
    }
}

/// The number of messages in the mailbox of a route.
package struct RouteLoad: Sendable {
    package let pattern: String
    /// The number of messages that wait or are in progress in the route's mailbox.
    ///
    /// Other routes may share the mailbox.
    package let waiting: Int
    /// The limit of the mailbox.
    package let limit: Int
}

/// A message that an operator of the program sends: a new message, or a dead letter that is sent again.
package struct OperatorRequest: Sendable {
    fileprivate let content: Request
    fileprivate let timeout: Duration

    /// Creates a new message.
    package init(_ url: String, parameters: [String: any Sendable], timeout: Duration) {
        self.content = Request(url: url, passed: .make(parameters))
        self.timeout = timeout
    }

    /// Creates a message that repeats a given message, with the parameters, headers, payload and origin of
    /// the given message, but without its deadline.
    ///
    /// - Parameters:
    ///   - message: The message to repeat. It is recorded as the cause of the new message.
    ///   - headers: Additional headers.
    ///   - timeout: The duration to wait for the reply.
    package init(replaying message: Message, headers: [String: String], timeout: Duration) {
        self.content = Request(
            url: message.parameters.url,
            passed: message.parameters.passed,
            extras: MessageExtras(
                payload: message.rawPayload,
                headers: message.headers.merging(headers) { _, new in new },
                correlationID: message.correlationID,
                external: message.extras?.external,
                provenance: MessageProvenance(kind: .request, cause: message.id)
            )
        )
        self.timeout = timeout
    }
}

package import WaybillEventLoop
package import WaybillRouting

// The interface for sibling targets, such as a console.
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
                    limit: target.members.reduce(0) { $0 + $1.mailbox.limit }
                )
            }
        }
    }

    /// Explains how the current routes match a URL, without calling a handler.
    package func explain(_ url: String) -> Explanation { self.core.registry.withTable { $0.explain(url) } }

    /// The state of the cluster that the bus has joined; nil when the bus has not joined a cluster.
    package var cluster: ClusterView? { self.core.registry.cluster?.view }

    /// The ID of a message of an operator, and its value or the reason why it failed.
    package typealias Performed = (id: CorrelationID, result: Result<any Sendable, RoutingError>)

    /// Routes a message that an operator sends.
    package nonisolated(nonsending) func perform(
        _ url: String,
        parameters: [String: any Sendable],
        timeout: Duration
    ) async -> Performed {
        await self.perform(Request(url: url, passed: .make(parameters)), timeout: timeout)
    }

    /// Routes or sends a message that repeats a given message, which is recorded as its cause, with its
    /// parameters, headers, payload and origin, but without its deadline.
    ///
    /// - Parameters:
    ///   - message: The message to repeat.
    ///   - headers: Additional headers.
    ///   - timeout: The duration to wait for the reply. Nil sends the message, without a deadline.
    /// - Returns: The ID of the new message, and the reason why it failed or was not accepted.
    package nonisolated(nonsending) func replay(
        _ message: Message,
        headers: [String: String],
        timeout: Duration?
    ) async -> (id: CorrelationID, failure: RoutingError?) {
        let extras = MessageExtras(
            payload: message.rawPayload,
            headers: message.headers.merging(headers) { _, new in new },
            correlationID: message.correlationID,
            external: message.extras?.external,
            provenance: MessageProvenance(kind: timeout == nil ? .send : .request, cause: message.id)
        )
        let parameters = message.parameters
        let request = Request(url: parameters.url, passed: parameters.passed, extras: extras)
        guard let timeout else {
            // The bus ends this part when it settles the message.
            extras.work?.addPart()
            let shard = self.core.currentShard
            let ticket = self.core.openTicket(on: shard)
            let id = ticket.id
            return (id, self.core.send(request, ticket: ticket, on: shard))
        }
        let (id, result) = await self.perform(request, timeout: timeout)
        if case .failure(let error) = result { return (id, error) }
        return (id, nil)
    }

    private nonisolated(nonsending) func perform(_ request: Request, timeout: Duration) async -> Performed {
        var request = request
        request.limit(to: timeout, by: self.core.time)
        let delivered = await self.core.deliverAndWait(request)
        return (delivered.id, delivered.outcome.result)
    }
}

/// The number of messages in the mailbox of a route.
package struct RouteLoad: Sendable {
    package let pattern: String
    /// The number of messages in the route's mailboxes, including messages of other routes that share them.
    package let waiting: Int
    /// The sum of the limits of the mailboxes; a module has one mailbox for each instance.
    package let limit: Int
}

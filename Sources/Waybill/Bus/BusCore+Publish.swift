internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    func subscribe(
        _ handler: Handler,
        _ pattern: String
    ) throws(RoutingError) -> Subscription {
        guard self.phase.load(ordering: .relaxed) == .open else { throw .shutDown(url: pattern) }
        var table = RouteTable<Void>(
            conventions: self.configuration.conventions,
            defaultScheme: self.configuration.defaultScheme,
            limits: self.configuration.limits
        )
        try table.insert(pattern, ())
        handler.name(pattern)
        guard let id = self.topics.add(handler, to: table, named: pattern) else {
            throw .shutDown(url: pattern)
        }
        return Subscription(pattern: pattern, core: self, id: id)
    }

    func unsubscribe(_ subscription: Subscription) {
        self.topics.remove(subscription.id, named: subscription.pattern)?.retire(
            with: RoutingError.unregistered
        )
    }

    /// Gives a request to every subscriber at once and counts who took it.
    nonisolated(nonsending) func publish(_ request: consuming Request) async throws(RoutingError) -> Int {
        if let context = self.inherited { request.inherit(from: context) }
        await self.admit()
        if let error = self.objection(to: request) { throw error }
        let subscribers = try self.topics.find(request.url)
        if subscribers.isEmpty { _ = try self.address(of: request.url) }
        var started: [Exchange] = []
        var taken = 0
        for subscriber in subscribers {
            let id = self.open()
            guard subscriber.handler.isImmediate, subscriber.handler.mailbox.eventLoop.isInEventLoop else {
                started.append(self.begin(request, subscriber, id, isPublished: true))
                continue
            }
            let message = request.message(id: id, parameters: subscriber.parameters)
            let outcome = subscriber.handler.runInPlace(message)
            self.close(outcome, id, request.url, at: subscriber.handler, message)
            taken += self.took(request.url, outcome)
        }
        for exchange in started { taken += self.took(request.url, await exchange.listen(noListener)) }
        return taken
    }

    /// 1 if a subscriber took the message; a failure concerns nobody else, and is written down.
    private func took(_ url: String, _ outcome: Outcome) -> Int {
        switch outcome {
        case .replied:
            return 1
        case .failed(let error):
            self.log(url, error)
            return 0
        }
    }
}

internal import WaybillEventLoop
internal import WaybillRouting

/// An exchange whose caller comes and goes; it is over when the caller does not come back.
final class Conversation: Sendable {
    let id: CorrelationID
    let exchange: Exchange
    /// The message, if only middlewares stand between it and the uncaught handler.
    private let unmatched: Message?
    /// The task that has a reply and has not come back for the next one, if one has.
    private let reader = Locked<UInt?>(nil)

    init(id: CorrelationID, exchange: Exchange, unmatched: Message? = nil) {
        self.id = id
        self.exchange = exchange
        self.unmatched = unmatched
    }

    deinit {
        self.endReading()
        self.exchange.cancel()
    }

    nonisolated(nonsending) func next() async -> Exchange.Event {
        self.endReading()
        let event = await self.exchange.next()
        if case .progress(let progress) = event, let context = progress.context {
            let task = ReplyReaders.add(context, of: self.exchange)
            self.reader.withLock { $0 = task }
        }
        if let unmatched, case .finished(.failed(let error)) = event, error.code == .noRoute {
            self.exchange.core.tellUncaught(unmatched)
        }
        return event
    }

    private func endReading() {
        guard let task = self.reader.withLock({ $0.take() }) else { return }
        ReplyReaders.remove(self.exchange, from: task)
    }

    /// Lets the handler go on that waits for an answer to what came last.
    func answer() { self.exchange.answer(.success(())) }
}

extension BusCore {
    /// Makes a request whose replies are asked for one by one.
    nonisolated(nonsending) func converse(_ request: Request) async -> Conversation {
        var request = request
        if let context = self.inherited { request.inherit(from: context) }
        await EventLoop.yieldIfDue()
        let id = self.open()
        do throws(RoutingError) {
            if let error = self.objection(to: request) { throw error }
            let chain = self.directory.chain
            let found = try self.find(request, on: self.currentLane, around: chain)
            return Conversation(
                id: id,
                exchange: self.begin(request, found, id, around: chain),
                unmatched: found.handler.failure == nil ? nil : self.unmatched(request, id: id)
            )
        } catch {
            let exchange = Exchange(id, url: request.url, core: self)
            exchange.finish(.failed(error))
            if error.code == .noRoute, let message = self.unmatched(request, id: id) {
                self.tellUncaught(message)
            }
            return Conversation(id: id, exchange: exchange)
        }
    }
}

internal import Logging
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Counts a message that a thread gives to the bus, and names it.
    func open() -> CorrelationID {
        guard let lane = self.currentLane else {
            Counters.add(self.books.shared.sent)
            return self.books.nextID()
        }
        return lane.open()
    }

    /// Counts how a message ended.
    func close(_ tally: Tally) {
        guard let lane = self.currentLane else { return self.books.shared.closeShared(tally) }
        lane.counters.close(tally)
    }

    /// Ends a message that nobody awaits and that came to nothing.
    @inline(never)
    func deadLetter(_ message: Message, _ error: RoutingError) {
        self.deadLetter(url: message.parameters.url, message, error)
    }

    /// Ends a message that nobody awaits and that reached no handler.
    @inline(never)
    func deadLetter(_ request: Request, _ id: CorrelationID, _ error: RoutingError) {
        self.deadLetter(url: request.url, self.unmatched(request, id: id), error)
    }

    private func deadLetter(url: String, _ message: Message?, _ error: RoutingError) {
        self.close(.deadLettered)
        if error.code == .noRoute, let message, self.tellUncaught(message) { return }
        self.log(url, error)
    }

    /// Writes down a failure that nobody is there to be told.
    func log(_ url: String, _ error: RoutingError) {
        self.logger.warning("dead letter", metadata: ["url": "\(url)", "error": "\(error)"])
    }

    /// Tells the uncaught handler, if there is one, about a URL that no pattern matched.
    @discardableResult
    func tellUncaught(_ message: Message) -> Bool {
        guard let uncaught = self.uncaught.withLock({ $0 }) else { return false }
        let context = DeliveryContext(hops: message.hops)
        self.home.eventLoop.execute { DeliveryContext.$current.withValue(context) { uncaught(message) } }
        return true
    }
}

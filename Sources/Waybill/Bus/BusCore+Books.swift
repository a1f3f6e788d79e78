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

    /// Counts a reply that came when its message had ended otherwise.
    func countLateReply(at handler: Handler?) {
        handler?.counters.countLateReply()
        Counters.add(self.books.shared.lateReplies)
    }

    /// Logs a failure that no caller is told.
    func log(_ url: String, _ error: RoutingError, as what: String = "dead letter") {
        self.logger.warning("\(what)", metadata: ["url": "\(url.onShortLine)", "error": "\(error)"])
    }

    /// Tells the uncaught handler, if there is one, about a URL that no pattern matched.
    @discardableResult
    func tellUncaught(_ message: Message) -> Bool {
        guard let uncaught = self.uncaught.withLock({ $0 }) else { return false }
        let context = DeliveryContext(hops: message.hops)
        self.home.eventLoop.execute { DeliveryContext.$inherited.withValue(context) { uncaught(message) } }
        return true
    }
}

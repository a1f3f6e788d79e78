internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension MessageBus {
    /// Sets the handler for URLs that no pattern matches (the uncaught handler), or replaces it.
    ///
    /// The caller of ``route(_:parameters:headers:deadline:timeout:)`` still receives the error. Without an
    /// uncaught handler, an unmatched message that no caller awaits is logged as a warning.
    ///
    /// The handler runs on the bus's loop. Its message has the values in the URL. If a pattern matches the
    /// beginning of the URL, the message also has the values that this pattern extracts.
    ///
    /// ``shutDown(drainingUntil:)`` waits for calls of the handler as it waits for messages. When the time
    /// for the shutdown is over, the bus drops and logs the calls that have not begun. A bus that has been
    /// shut down ignores the handler.
    ///
    /// - Parameters:
    ///   - includingPublished: Whether the handler also receives publications without a subscriber. A
    ///     publisher does not receive a failure when a publication has no subscriber.
    ///   - handler: The closure to call.
    public func setUncaughtHandler(
        includingPublished: Bool = false,
        _ handler: @escaping @Sendable (Message) -> Void
    ) {
        _ = self.core.uncaught.withLock { uncaught -> UncaughtHandler? in
            guard self.core.phase.load(ordering: .relaxed) != .closed else { return nil }
            let handler = UncaughtHandler(includesPublished: includingPublished, body: handler)
            return Swift.exchange(&uncaught, with: handler)
        }
    }
}

struct UncaughtHandler: Sendable {
    let includesPublished: Bool
    let body: @Sendable (Message) -> Void
}

extension BusCore {
    /// Calls the uncaught handler for a URL that no pattern matches, or returns false when none is set.
    ///
    /// Call this method before the outcome of the message is counted. A bus that is draining then always sees
    /// either the message or the call.
    @discardableResult
    func tellUncaught(_ message: Message, isPublished: Bool = false) -> Bool {
        guard let uncaught = self.uncaught.withLock({ $0 }) else { return false }
        let message = isPublished ? message : self.addingReturnPath(to: message)
        self.uncaughtCalls.add(1, ordering: .sequentiallyConsistent)
        let context = DeliveryContext(ContextRecord(hops: message.hops))
        self.primaryShard.eventLoop.execute {
            if self.phase.load(ordering: .sequentiallyConsistent) == .closed {
                let url = message.parameters.url
                self.log(url, .shutDown(url: url), as: "the uncaught handler was not called")
            } else {
                DeliveryContext.run(in: context) { uncaught.body(message) }
            }
            self.uncaughtCalls.subtract(1, ordering: .sequentiallyConsistent)
            if self.phase.load(ordering: .relaxed) != .open { self.noteEnd() }
        }
        return true
    }

    /// The number of messages without an outcome, and of calls of the uncaught handler that have not
    /// returned.
    var unended: Int {
        // Read the messages first, because a call is counted before the outcome of its message is counted.
        let inFlight = self.statistics.current.inFlight
        return max(0, inFlight) + self.uncaughtCalls.load(ordering: .sequentiallyConsistent)
    }
}

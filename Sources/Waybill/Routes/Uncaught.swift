internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension MessageBus {
    /// Sets the handler for URLs that no pattern matches.
    ///
    /// This handler is called the uncaught handler. It replaces an earlier one.
    ///
    /// The caller of ``route(_:parameters:headers:deadline:timeout:)`` still receives the error. Without an
    /// uncaught handler, an unmatched message that no caller awaits is logged as a warning.
    ///
    /// The handler runs on the bus's loop. Its message has the values that can be read from the URL. If a
    /// pattern matches the beginning of the URL, the message has that pattern's values too.
    ///
    /// ``shutDown(drainingUntil:)`` waits for calls of the handler as it waits for messages. Calls that have
    /// not begun when the time is up are dropped and logged.
    ///
    /// - Parameters:
    ///   - includingPublished: Whether the handler also receives publications without a subscriber, which are
    ///     not failures of the publisher.
    ///   - handler: The closure to call.
    public func setUncaughtHandler(
        includingPublished: Bool = false,
        _ handler: @escaping @Sendable (Message) -> Void
    ) {
        self.core.uncaught.withLock {
            $0 = UncaughtHandler(includesPublished: includingPublished, body: handler)
        }
    }
}

/// The handler for URLs that no pattern matches.
struct UncaughtHandler: Sendable {
    /// Whether the handler also receives publications without a subscriber.
    let includesPublished: Bool
    let body: @Sendable (Message) -> Void
}

extension BusCore {
    /// Calls the uncaught handler for a URL that no pattern matches.
    ///
    /// Does nothing when no handler is set.
    ///
    /// A message that is not yet counted as ended must be passed to this method before it is counted. A bus
    /// that is draining then always sees either the message or the call.
    ///
    /// - Parameters:
    ///   - message: The unmatched message.
    ///   - isPublished: Whether the message was published and therefore has no return URL.
    /// - Returns: Whether an uncaught handler is set.
    @discardableResult
    func tellUncaught(_ message: Message, isPublished: Bool = false) -> Bool {
        guard let uncaught = self.uncaught.withLock({ $0 }) else { return false }
        let message = isPublished ? message : self.addingReturnPath(to: message)
        self.uncaughtCalls.add(1, ordering: .sequentiallyConsistent)
        let context = DeliveryContext.record(ContextRecord(hops: message.hops))
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

    /// The number of messages and calls of the uncaught handler that have not ended.
    var unended: Int {
        // Read the messages first: a call is counted before its message has ended.
        let inFlight = self.statistics.current.inFlight
        return max(0, inFlight) + self.uncaughtCalls.load(ordering: .sequentiallyConsistent)
    }
}

internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension MessageBus {
    /// Sets the handler of every URL that no pattern matched; there is one such handler, the last one set.
    ///
    /// The caller of ``route(_:parameters:headers:deadline:timeout:)`` still gets its error. Without such a
    /// handler, a message that no caller awaits is a warning in the log. It runs on the bus's loop, with what
    /// could be read from the URL: where the beginning of the URL is registered, with the values of that.
    ///
    /// ``shutDown(drainingUntil:)`` waits for its calls as for messages. Calls that have not begun when the
    /// time is up are dropped and logged.
    ///
    /// - Parameters:
    ///   - includingPublished: whether it also sees what is published and has no subscriber, which is no
    ///     failure of the publisher's.
    ///   - handler: what runs.
    public func setUncaughtHandler(
        includingPublished: Bool = false,
        _ handler: @escaping @Sendable (Message) -> Void
    ) {
        self.core.uncaught.withLock {
            $0 = UncaughtHandler(includesPublished: includingPublished, body: handler)
        }
    }
}

/// The handler of every URL that no pattern matched.
struct UncaughtHandler: Sendable {
    /// Whether it also sees what is published and has no subscriber.
    let includesPublished: Bool
    let body: @Sendable (Message) -> Void
}

extension BusCore {
    /// Calls the uncaught handler, if there is one, for a URL that no pattern matched.
    ///
    /// Where the message is yet to be counted as ended, this comes first, so that a bus which is draining sees
    /// either the message or the call.
    ///
    /// - Parameters:
    ///   - message: the message to that URL.
    ///   - isPublished: whether it was published, and so has no return URL.
    /// - Returns: whether there is an uncaught handler.
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
                DeliveryContext.with(context) { uncaught.body(message) }
            }
            self.uncaughtCalls.subtract(1, ordering: .sequentiallyConsistent)
            if self.phase.load(ordering: .relaxed) != .open { self.noteEnd() }
        }
        return true
    }

    /// How many messages and calls of the uncaught handler have not ended.
    var unended: Int {
        // Messages first: a call is counted before its message has ended.
        let inFlight = self.statistics.current.inFlight
        return max(0, inFlight) + self.uncaughtCalls.load(ordering: .sequentiallyConsistent)
    }
}

internal import WaybillEventLoop
internal import WaybillRouting

/// A message whose publisher waits for a place in a full feed.
final class QueuedMessage: Sendable {
    /// How the wait ends.
    enum End: Sendable {
        /// There is a place, and the message is in it.
        case placed
        case failed(RoutingError)
    }

    let message: Message
    let feed: Feed
    private let state = Locked(State())

    typealias Publisher = Pause<End>

    private struct State {
        var end: End?
        var publisher: Publisher?
    }

    init(_ message: Message, in feed: Feed) {
        self.message = message
        self.feed = feed
    }

    /// Ends the wait; who took the message out of the line does so, once.
    func end(_ end: End) {
        let publisher = self.state.withLock { state in
            state.end = end
            return state.publisher.take()
        }
        publisher?.resume(returning: end)
    }

    /// Resumes the publisher when the wait ends.
    func wait(_ publisher: Publisher) {
        let end = self.state.withLock { state in
            if state.end == nil { state.publisher = publisher }
            return state.end
        }
        if let end { publisher.resume(returning: end) }
    }

    /// Ends the wait if there is no place yet.
    func giveUp(_ error: RoutingError) {
        if self.feed.withdraw(self) { self.end(.failed(error)) }
    }
}

public import WaybillRouting

/// A message that reached no handler, or a message that failed and that no caller awaited.
///
/// Iterate over ``MessageBus/deadLetters`` to receive dead letters.
public struct DeadLetter: Sendable {
    /// The ID of the message.
    public let id: CorrelationID

    /// The URL of the message, as the sender wrote it.
    public let url: String

    /// The message; nil if ``url`` is not a valid URL.
    ///
    /// The values of the path are missing if no pattern matched the URL, or if a caller awaited the reply.
    public let message: Message?

    /// The reason why the message reached no handler, or the error with which it failed.
    public let error: RoutingError

    /// The pattern that matched the URL; nil if no pattern matched.
    public let pattern: String?

    /// Whether a caller received the same error.
    public let isAwaited: Bool

    /// Whether the message was published, and therefore went to subscribers and not to a route.
    package let isPublication: Bool

    /// The time at which the message became a dead letter.
    public let time: ContinuousClock.Instant
}

extension DeadLetter: CustomStringConvertible {
    /// One readable line with the ID and the error, which contains the URL and the route.
    public var description: String {
        let route = self.error.route == nil ? self.pattern.map { " for \($0)" } ?? "" : ""
        let url = self.error.url == self.url || self.url.isEmpty ? "" : " to \(self.url.onShortLine)"
        return "dead letter \(self.id)\(route)\(url): \(self.error)".onOneLine
    }
}

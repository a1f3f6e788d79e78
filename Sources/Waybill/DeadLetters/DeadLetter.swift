internal import WaybillEventLoop
public import WaybillRouting

/// A message that reached no handler, or a message that failed and that no caller awaited, with the reason.
///
/// Iterate over ``MessageBus/deadLetters`` to receive them.
public struct DeadLetter: Sendable {
    /// The ID of the message.
    public let id: CorrelationID

    /// The URL to which it was sent, as its sender wrote it.
    public let url: String

    /// The message, as far as it could be read; nil if the text is not a URL.
    ///
    /// The message has no values of a pattern if no pattern matched, or if it ended while its caller awaited
    /// it.
    public let message: Message?

    /// The reason why it reached no handler, or its failure.
    public let error: RoutingError

    /// The pattern that it matched, or nil.
    public let pattern: String?

    /// Whether a caller received the same error.
    public let isAwaited: Bool

    /// Whether the message was published.
    ///
    /// A route with the same URL need not be its receiver.
    package let isPublication: Bool

    /// The time at which it became a dead letter.
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

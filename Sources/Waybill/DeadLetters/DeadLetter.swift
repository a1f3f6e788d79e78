internal import WaybillEventLoop
public import WaybillRouting

/// A message that reached no handler, or that no caller awaited and that failed, with the reason.
///
/// Watch ``MessageBus/deadLetters`` to see them.
public struct DeadLetter: Sendable {
    /// The ID of the message.
    public let id: CorrelationID

    /// Where it was sent, as its sender wrote it.
    public let url: String

    /// The message, as far as it could be read: nil if the URL is none, without the values of a pattern if
    /// none matched or the message ended while its caller awaited it.
    public let message: Message?

    /// Why it reached no handler, or how it failed.
    public let error: RoutingError

    /// The pattern that it matched, if one did.
    public let pattern: String?

    /// Whether a caller got the same error.
    public let isAwaited: Bool

    /// Whether it was published; a route of that URL need not be what it was for.
    package let isPublication: Bool

    /// When it became a dead letter.
    public let time: ContinuousClock.Instant
}

extension DeadLetter: CustomStringConvertible {
    /// One readable line: ID and error, which names URL and route.
    public var description: String {
        let route = self.error.route == nil ? self.pattern.map { " for \($0)" } ?? "" : ""
        let url = self.error.url == self.url || self.url.isEmpty ? "" : " to \(self.url.onShortLine)"
        return "dead letter \(self.id)\(route)\(url): \(self.error)".onOneLine
    }
}

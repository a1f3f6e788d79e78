internal import Logging
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

extension BusCore {
    /// Ends a message that no caller awaits and that failed.
    @inline(never)
    func deadLetter(_ message: Message, _ error: RoutingError, at handler: Handler? = nil) {
        let error = error.at(handler)
        // Its handler may have failed with that very code.
        let isMatched = handler.map { $0.failure == nil } ?? false
        self.show(message.id, message.parameters.url, error, isAwaited: false, at: handler, message)
        self.close(.deadLettered)
        self.report(message.parameters.url, isMatched ? nil : message, error)
        message.extras?.isReturnOf?.end(.failed(error))
    }

    /// Ends a message that no caller awaits and that reached no handler.
    @inline(never)
    func deadLetter(_ request: Request, _ id: CorrelationID, _ error: RoutingError) {
        if self.deadLetters.isWatched {
            // It may have a handler, whose mailbox is full.
            let found = error.code == .noRoute ? nil : try? self.find(request, on: self.currentShard)
            let message = found.map { request.message(id: id, parameters: $0.parameters) }
            self.show(
                id,
                request.url,
                error,
                isAwaited: false,
                at: found?.handler,
                message ?? self.unmatched(request, id: id)
            )
        }
        self.close(.deadLettered)
        self.report(request.url, error.code == .noRoute ? self.unmatched(request, id: id) : nil, error)
        request.extras?.isReturnOf?.end(.failed(error))
    }

    /// Shows a message that reached no handler to the observers; called before the message is counted.
    func show(
        _ id: CorrelationID,
        _ url: String,
        _ error: RoutingError,
        isAwaited: Bool,
        at handler: Handler? = nil,
        _ message: @autoclosure () -> Message?
    ) {
        guard self.deadLetters.isWatched, !isAwaited || Outcome.Kind(error.code) == .deadLettered else {
            return
        }
        self.deadLetters.show(
            DeadLetter(
                id: id,
                url: url,
                message: message(),
                error: error,
                pattern: handler?.pattern ?? error.route,
                isAwaited: isAwaited,
                time: .now
            )
        )
    }

    /// Ends a message whose caller gets its error, and shows it to the observers if it is a dead letter.
    func close(
        _ outcome: Outcome,
        _ id: CorrelationID,
        _ url: String,
        at handler: Handler? = nil,
        _ message: @autoclosure () -> Message?
    ) {
        if case .failed(let error) = outcome {
            self.show(id, url, error, isAwaited: true, at: handler, message())
        }
        self.close(outcome.kind)
    }

    private func report(_ url: String, _ message: Message?, _ error: RoutingError) {
        if error.code == .noRoute, let message, self.tellUncaught(message) { return }
        self.log(url, error)
    }
}

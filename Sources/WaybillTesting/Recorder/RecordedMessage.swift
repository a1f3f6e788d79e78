public import Waybill
public import WaybillRouting

/// A message that was delivered on a bus, with its outcome so far.
public struct RecordedMessage: Sendable {
    /// The outcome of a message.
    public enum Outcome: Sendable {
        /// The message has neither a reply nor a failure yet.
        case pending
        /// The message received a reply with a value.
        case replied(any Sendable)
        /// The message failed with an error.
        case failed(RoutingError)
    }

    /// The message's ID.
    ///
    /// A published message has one ID for each subscriber.
    public let id: CorrelationID

    /// The URL in the sender's spelling.
    public let url: String

    /// The pattern that the message matched; nil if none matched.
    public let pattern: String?

    /// The message as its sender sent it, before any middleware; nil if the text is not a URL.
    public let message: Message?

    /// The outcome of the message so far.
    public internal(set) var outcome = Outcome.pending

    /// The values of the progress replies, which a handler sends before the reply.
    public internal(set) var progress: [any Sendable] = []

    /// The ID of the message whose reply this message contains; nil if this message was not sent to a return
    /// URL.
    public var correlationID: CorrelationID? { self.message?.correlationID }

    /// The parameters from the path, the query and the call, as text.
    public var parameters: [String: String] { self.message?.parameters.all ?? [:] }

    /// The headers of the message.
    public var headers: [String: String] { self.message?.headers ?? [:] }

    /// Whether the message has a reply or a failure.
    public var hasEnded: Bool {
        if case .pending = self.outcome { false } else { true }
    }

    /// The error of a message that failed; otherwise nil.
    public var error: RoutingError? {
        if case .failed(let error) = self.outcome { error } else { nil }
    }

    /// Returns the value of the message's reply.
    ///
    /// - Throws: The error of a message that failed; `typeMismatch` if the value has another type, or the
    ///   message has no reply yet.
    public func value<Value: Sendable>(as type: Value.Type = Value.self) throws(RoutingError) -> Value {
        switch self.outcome {
        case .replied(let value as Value): return value
        case .failed(let error): throw error
        case .replied(let value):
            throw self.mismatch("expected a \(type), but the reply is a \(Swift.type(of: value))")
        case .pending: throw self.mismatch("the message has no reply yet: await `wait` on the recorder first")
        }
    }

    private func mismatch(_ message: String) -> RoutingError {
        RoutingError(.typeMismatch, url: self.url, message: message)
    }
}

extension RecordedMessage: CustomStringConvertible {
    /// One readable line with the ID, the URL and the outcome.
    public var description: String {
        switch self.outcome {
        case .pending: "\(self.id) \(self.url): pending"
        case .replied(let value): "\(self.id) \(self.url): replied \(value)"
        case .failed(let error): "\(self.id) \(self.url): \(error)"
        }
    }
}

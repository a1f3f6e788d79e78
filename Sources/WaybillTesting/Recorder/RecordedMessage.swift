public import Waybill
public import WaybillRouting

/// A message of a bus, and its outcome so far.
public struct RecordedMessage: Sendable {
    /// How a message ended.
    public enum Outcome: Sendable {
        /// It has not ended yet.
        case pending
        /// It was answered.
        case replied(any Sendable)
        /// It was not, and why.
        case failed(RoutingError)
    }

    /// The message's ID; a message that is published has one for each subscriber.
    public let id: CorrelationID

    /// Where it was sent, as its sender wrote it.
    public let url: String

    /// The pattern that it matched, if one did.
    public let pattern: String?

    /// The message from its sender, before any middleware; nil if the text is not a URL.
    public let message: Message?

    /// How it ended, if it has.
    public internal(set) var outcome = Outcome.pending

    /// The progress replies.
    public internal(set) var progress: [any Sendable] = []

    /// The ID of the answered message, if this message is a return leg.
    public var correlationID: CorrelationID? { self.message?.correlationID }

    /// The values of path, query and call, as text.
    public var parameters: [String: String] { self.message?.parameters.all ?? [:] }

    /// The headers of the message.
    public var headers: [String: String] { self.message?.headers ?? [:] }

    /// Whether it has ended.
    public var hasEnded: Bool {
        if case .pending = self.outcome { false } else { true }
    }

    /// The failure of the message, or nil.
    public var error: RoutingError? {
        if case .failed(let error) = self.outcome { error } else { nil }
    }

    /// The value that it was answered with.
    ///
    /// - Throws: Why it failed, or `typeMismatch` if the value is of another type or not there yet.
    public func value<Value: Sendable>(as type: Value.Type = Value.self) throws(RoutingError) -> Value {
        switch self.outcome {
        case .replied(let value as Value): return value
        case .failed(let error): throw error
        case .replied(let value):
            throw self.mismatch("it was answered with a \(Swift.type(of: value)), and not with a \(type)")
        case .pending: throw self.mismatch("it has not been answered yet: call `wait`")
        }
    }

    private func mismatch(_ message: String) -> RoutingError {
        RoutingError(.typeMismatch, url: self.url, message: message)
    }
}

extension RecordedMessage: CustomStringConvertible {
    /// One readable line: ID, URL, and how it ended.
    public var description: String {
        switch self.outcome {
        case .pending: "\(self.id) \(self.url): pending"
        case .replied(let value): "\(self.id) \(self.url): replied \(value)"
        case .failed(let error): "\(self.id) \(self.url): \(error)"
        }
    }
}

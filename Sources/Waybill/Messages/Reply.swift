public import WaybillRouting

/// The reply to a message: the handler's value, and the ID of the message that the reply answers.
///
/// If you need only the value, ask the bus for it directly:
/// `let user: User = try await bus.route("app://user/detail?uid=1")`.
public struct Reply: Sendable {
    /// The ID of the message that this reply answers.
    public let correlationID: CorrelationID

    /// The value that the handler returned; `()` if the handler returns nothing.
    public var value: any Sendable { EncodedValues.plain(self.content) }

    /// The value as the bus received it: an ``EncodedValue`` when the value came from another process.
    package let content: any Sendable

    /// The URL of the message that this reply answers.
    public let url: String

    /// Whether the handler has returned; false for a progress reply.
    public let isLast: Bool

    /// The delivery of this reply's value to the return URL; nil for a progress reply or without a return
    /// URL.
    public let returnLeg: ReturnLeg?

    /// The receiver of an answer to this progress reply; nil for the last reply.
    let answer: (exchange: Exchange, continuation: Exchange.Answer)?

    /// Returns the value as the type that the caller needs.
    ///
    /// - Throws: `typeMismatch`, naming both types.
    public func value<Value: Sendable>(as type: Value.Type) throws(RoutingError) -> Value {
        guard let value = converted(self.content, to: type) else {
            let origin = self.isLast ? "the handler returned" : "the progress reply is"
            throw .typeMismatch(url: self.url, wanted: type, found: self.content, origin: origin)
        }
        return value
    }

    /// Answers this reply, so that the handler that waits in ``Message/reply(with:expecting:)`` resumes.
    ///
    /// This method is for code that reads ``MessageBus/replies(to:parameters:headers:deadline:timeout:)``. A
    /// caller that asks for the next reply without an answer to this reply answers with `()`.
    ///
    /// - Parameter value: The answer.
    /// - Returns: Whether the handler was waiting for the answer; false after the last reply, after an
    ///   earlier answer, or after the caller has asked for the next reply.
    @discardableResult
    public func answer(with value: some Sendable) -> Bool {
        guard let (exchange, continuation) = self.answer else { return false }
        return exchange.answer(.success(value), to: continuation)
    }
}

extension Reply: CustomStringConvertible {
    /// One readable line with the ID, the URL and the value.
    public var description: String {
        "reply \(self.correlationID) from \(self.url.onShortLine): \(self.value)".onOneLine
    }
}

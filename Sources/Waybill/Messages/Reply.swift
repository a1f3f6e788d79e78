public import WaybillRouting

/// What comes back for a message: the handler's value, with the ID of the message that it answers.
///
/// Ask the bus for the value directly when that is all you need:
/// `let user: User = try await bus.route("app://user/detail?uid=1")`.
public struct Reply: Sendable {
    /// The ID of the message that this answers.
    public let correlationID: CorrelationID

    /// What the handler returned; `()` if it returns nothing.
    public var value: any Sendable { EncodedValues.plain(self.content) }

    /// The same as it came: an ``EncodedValue`` from another process.
    package let content: any Sendable

    /// The URL of the message that this answers.
    public let url: String

    /// Whether the handler has returned; false for a progress reply.
    public let isLast: Bool

    /// The trace of what this reply's value does on the return URL; nil if the request had none, and for a
    /// progress reply.
    public let returnLeg: ReturnLeg?

    /// Where an answer to this reply goes, if its handler waits for one.
    let answer: AnswerSlot?

    init(
        correlationID: CorrelationID,
        value: any Sendable,
        url: String,
        isLast: Bool,
        returnLeg: ReturnLeg? = nil,
        answer: AnswerSlot? = nil
    ) {
        self.correlationID = correlationID
        self.content = value
        self.url = url
        self.isLast = isLast
        self.returnLeg = returnLeg
        self.answer = answer
    }

    /// The value as the type that the caller needs.
    ///
    /// - Throws: `typeMismatch`, naming both types.
    public func value<Value: Sendable>(as type: Value.Type) throws(RoutingError) -> Value {
        guard let value = converted(self.content, to: type) else {
            let origin = self.isLast ? "the handler returned" : "the progress reply is"
            throw .typeMismatch(url: self.url, wanted: type, found: self.content, origin: origin)
        }
        return value
    }

    /// Replies to this reply: the handler that waits in ``Message/reply(with:expecting:)`` gets the value and
    /// continues.
    ///
    /// It is for code that reads ``MessageBus/replies(to:parameters:headers:deadline:timeout:)``; asking for
    /// the next reply without having answered answers `()`.
    ///
    /// - Parameter value: the answer.
    /// - Returns: whether the handler waited for it; false for the last reply, the second time, and once the
    ///   next reply has been asked for.
    @discardableResult
    public func answer(with value: some Sendable) -> Bool { self.answer?.fill(value) ?? false }
}

extension Reply: CustomStringConvertible {
    /// One readable line: ID, URL and value.
    public var description: String {
        "reply \(self.correlationID) from \(self.url.onShortLine): \(self.value)".onOneLine
    }
}

/// Where the answer to one progress reply goes.
struct AnswerSlot: Sendable {
    let exchange: Exchange
    /// Which of the replies it is, from 1.
    let number: Int

    /// Resumes the handler, if it waits for the answer to this very reply.
    func fill(_ value: any Sendable) -> Bool { self.exchange.answer(.success(value), to: self.number) }
}

public import WaybillRouting

extension MessageTrace {
    /// Something that happened to a message.
    public struct Event: Sendable {
        /// What happened.
        public enum Kind: Sendable {
            /// The message is on its way.
            case message
            /// Its handler has replied, and goes on.
            case progress(any Sendable)
            /// It was answered.
            case reply(any Sendable)
            /// It was not.
            case failure(RoutingError)
        }

        /// What happened.
        public let kind: Kind

        /// The message, as its caller sent it.
        public let message: Message

        /// The pattern that it matched, if any.
        public let pattern: String?

        /// When it happened.
        public let time: ContinuousClock.Instant

        /// How long the message had been on its way.
        public let duration: Duration
    }
}

extension MessageTrace.Event: CustomStringConvertible {
    /// One readable line: the ID, what happened, the URL, and the value or the failure with the time that it took.
    public var description: String {
        let url = self.message.parameters.url.onShortLine
        switch self.kind {
        case .message:
            let answer = self.message.correlationID.map { " (answers \($0))" } ?? ""
            return "\(self.message.id) -> \(url)\(answer)".onOneLine
        case .progress(let value):
            return "\(self.message.id) .. \(url) after \(self.duration): \(value)".onOneLine
        case .reply(let value):
            return "\(self.message.id) <- \(url) after \(self.duration): \(value)".onOneLine
        case .failure(let error):
            return "\(self.message.id) !! \(url) after \(self.duration): \(error)".onOneLine
        }
    }
}

extension RoutingError {
    /// The kind of a failure.
    ///
    /// Codes are open-ended: a later version may add one, so a `switch` over them needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, as it is written in Swift.
        public let description: String

        private init(_ name: String) { self.description = name }

        /// The text is not a URL: empty, too long, or its percent-encoding is not UTF-8.
        public static let invalidURL = Self("invalidURL")
        /// The text is not a pattern.
        public static let invalidPattern = Self("invalidPattern")
        /// Another pattern matches the same addresses.
        public static let conflict = Self("conflict")
        /// No pattern matches the address.
        public static let noRoute = Self("noRoute")
        /// A pattern or a connector takes the address, but nobody handles it: its handler was taken out while the message
        /// waited for it, or the connector knows no such target.
        public static let noHandler = Self("noHandler")
        /// Somebody on the way said no.
        public static let refused = Self("refused")
        /// A parameter that the handler needs is not there.
        public static let missingParameter = Self("missingParameter")
        /// A parameter is there but is not of the type that the handler needs.
        public static let invalidParameter = Self("invalidParameter")
        /// The value is not of the type that was asked for.
        public static let typeMismatch = Self("typeMismatch")
        /// The handler threw an error, which is the cause.
        public static let handlerFailed = Self("handlerFailed")
        /// No reply arrived before the deadline.
        public static let deadlineExceeded = Self("deadlineExceeded")
        /// The caller was cancelled.
        public static let cancelled = Self("cancelled")
        /// The mailbox of the module is full.
        public static let mailboxFull = Self("mailboxFull")
        /// The module would wait for itself for ever.
        public static let deadlock = Self("deadlock")
        /// The message was routed on and on.
        public static let hopLimitExceeded = Self("hopLimitExceeded")
        /// The value cannot leave this process.
        public static let notTransferable = Self("notTransferable")
        /// The other side cannot be reached.
        public static let unreachable = Self("unreachable")
        /// The same is under way already: a performance is performed while it is being performed.
        public static let overRoute = Self("overRoute")
        /// The state does not permit it: what is removed was not performed, for example.
        public static let actionFailed = Self("actionFailed")
        /// It leads back to itself: adapters in a circle, or a performance that performs another one, on and on.
        public static let infiniteRecursion = Self("infiniteRecursion")
        /// The loop or the bus has been shut down.
        public static let shutDown = Self("shutDown")

        /// Every code that this version knows.
        package static let all: [Self] = [
            .invalidURL, .invalidPattern, .conflict, .noRoute, .noHandler, .refused, .missingParameter,
            .invalidParameter, .typeMismatch, .handlerFailed, .deadlineExceeded, .cancelled, .mailboxFull,
            .deadlock, .hopLimitExceeded, .notTransferable, .unreachable, .overRoute, .actionFailed,
            .infiniteRecursion, .shutDown,
        ]
    }
}

extension RoutingError: CustomStringConvertible {
    /// One readable line: code, URL, route and module, sentence and cause.
    ///
    /// It is made with ``SafeText``: what would break the line is escaped, and what is very long is cut.
    public var description: String {
        let url = self.url.isEmpty ? "" : " \(self.url.onShortLine)"
        let place = [self.route, self.module].compactMap(\.self).joined(separator: " of ").onShortLine
        let route = place.isEmpty ? "" : " (\(place))"
        let reason =
            self.cause.map { " (cause: \(SafeText.line("\($0)", limit: Self.longestSentence)))" } ?? ""
        return "\(self.code)\(url)\(route): \(self.message)\(reason)"
    }
}

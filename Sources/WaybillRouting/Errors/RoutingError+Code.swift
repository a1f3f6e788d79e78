extension RoutingError {
    /// The kind of a failure.
    ///
    /// More codes can be added later, so a `switch` over codes needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code, as spelled in Swift.
        public let description: String

        /// Creates a code for a product of this package.
        package init(_ name: String) { self.description = name }

        /// The text is not a URL: it is empty or too long, or its percent-encoding is not UTF-8.
        public static let invalidURL = Self("invalidURL")
        /// The text is not a pattern.
        public static let invalidPattern = Self("invalidPattern")
        /// Another pattern matches the same addresses.
        public static let conflict = Self("conflict")
        /// No pattern matches the address.
        public static let noRoute = Self("noRoute")
        /// No handler can handle the message, although a pattern or a connector matches the address.
        ///
        /// For example, the handler was unregistered while the message waited, or the connector does not know
        /// the target.
        public static let noHandler = Self("noHandler")
        /// The message was rejected, for example by middleware, or because its scheme is not registered.
        public static let refused = Self("refused")
        /// A parameter that the handler requires is missing.
        public static let missingParameter = Self("missingParameter")
        /// A parameter exists but cannot be converted to the type that the handler requires.
        public static let invalidParameter = Self("invalidParameter")
        /// The value does not have the requested type.
        public static let typeMismatch = Self("typeMismatch")
        /// The handler threw an error, which is the cause.
        public static let handlerFailed = Self("handlerFailed")
        /// No reply arrived before the deadline.
        public static let deadlineExceeded = Self("deadlineExceeded")
        /// The caller was cancelled.
        public static let cancelled = Self("cancelled")
        /// The mailbox of the module is full.
        public static let mailboxFull = Self("mailboxFull")
        /// The call would make a module wait for itself, so neither the call nor the module could continue.
        public static let deadlock = Self("deadlock")
        /// The message was forwarded more often than the hop limit allows.
        public static let hopLimitExceeded = Self("hopLimitExceeded")
        /// The value cannot be encoded for another process.
        public static let notTransferable = Self("notTransferable")
        /// The remote side cannot be reached.
        public static let unreachable = Self("unreachable")
        /// The operation would repeat without end, for example because adapters form a cycle.
        public static let infiniteRecursion = Self("infiniteRecursion")
        /// The loop or the bus has been shut down.
        public static let shutDown = Self("shutDown")

        /// All codes of routing and the bus in this version, in the order of declaration.
        package static let all: [Self] = [
            .invalidURL, .invalidPattern, .conflict, .noRoute, .noHandler, .refused, .missingParameter,
            .invalidParameter, .typeMismatch, .handlerFailed, .deadlineExceeded, .cancelled, .mailboxFull,
            .deadlock, .hopLimitExceeded, .notTransferable, .unreachable,
            .infiniteRecursion, .shutDown,
        ]

        /// Returns the code of this version with a name, or nil when no code has the name.
        package init?(named name: String) {
            guard let code = Self.all.first(where: { $0.description == name }) else { return nil }
            self = code
        }
    }
}

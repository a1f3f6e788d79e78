#if Durable
/// A failure of a durable store.
public struct DurableError: Error, CustomStringConvertible {
    /// The kind of failure.
    public let code: Code
    /// The problem, the file or the message that has the problem, and the remedy, in one sentence for people.
    public let message: String
    /// The underlying error; nil if the failure has no cause.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The code and the sentence, in one line.
    public var description: String { "\(self.code): \(self.message)" }

    /// The kind of a failure, to which later versions may add kinds.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code, as spelled in Swift.
        public let description: String

        /// The file is not an SQLite database.
        public static let notADatabase = Self(description: "notADatabase")
        /// A newer version of Waybill has written the file.
        public static let newerSchema = Self(description: "newerSchema")
        /// Another process, or another store of this process, has opened the file.
        public static let inUse = Self(description: "inUse")
        /// The file or its folder cannot be written.
        public static let readOnly = Self(description: "readOnly")
        /// The file cannot be opened or created.
        public static let unavailable = Self(description: "unavailable")
        /// The disk has no space left, so the failed operation has written nothing.
        public static let diskFull = Self(description: "diskFull")
        /// The store has reached ``DurableStore/Configuration/sizeLimit`` and accepts no messages.
        public static let sizeLimitReached = Self(description: "sizeLimitReached")
        /// The system could not read or write the file.
        public static let inputOutput = Self(description: "inputOutput")
        /// The file is damaged.
        public static let corrupt = Self(description: "corrupt")
        /// The store has stopped after a failure that makes the state of the file uncertain.
        public static let stopped = Self(description: "stopped")
        /// The store is closed.
        public static let closed = Self(description: "closed")
        /// An SQL statement has a syntax error, is not allowed, or needs another number of values.
        public static let invalidStatement = Self(description: "invalidStatement")
        /// An SQL statement failed, for example because of a constraint.
        public static let statementFailed = Self(description: "statementFailed")
        /// The attempt to handle the message is over, so the message can no longer be completed.
        public static let attemptEnded = Self(description: "attemptEnded")
        /// The message was not delivered by a store.
        public static let notDurable = Self(description: "notDurable")
        /// An argument of the call is invalid.
        public static let invalidArgument = Self(description: "invalidArgument")
        /// The transaction was used after its closure had returned.
        public static let transactionEnded = Self(description: "transactionEnded")
        /// The store is already attached to a bus.
        public static let alreadyAttached = Self(description: "alreadyAttached")
    }
}
#endif

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
        private enum Storage: String {
            case notADatabase, newerSchema, inUse, readOnly, unavailable, diskFull
            case sizeLimitReached, inputOutput, corrupt, stopped, closed, invalidStatement, statementFailed
            case attemptEnded, notDurable, invalidArgument, transactionEnded, alreadyAttached
        }

        private let storage: Storage

        /// The name of the code.
        public var description: String { self.storage.rawValue }

        /// The file is not an SQLite database.
        public static let notADatabase = Self(storage: .notADatabase)
        /// A newer version of Waybill has written the file.
        public static let newerSchema = Self(storage: .newerSchema)
        /// Another process, or another store of this process, has opened the file.
        public static let inUse = Self(storage: .inUse)
        /// The file or its folder cannot be written.
        public static let readOnly = Self(storage: .readOnly)
        /// The file cannot be opened or created.
        public static let unavailable = Self(storage: .unavailable)
        /// The disk has no space left, so the failed operation has written nothing.
        public static let diskFull = Self(storage: .diskFull)
        /// The store has reached ``DurableStore/Configuration/sizeLimit`` and accepts no messages.
        public static let sizeLimitReached = Self(storage: .sizeLimitReached)
        /// The system could not read or write the file.
        public static let inputOutput = Self(storage: .inputOutput)
        /// The file is damaged.
        public static let corrupt = Self(storage: .corrupt)
        /// The store has stopped after a failure that makes the state of the file uncertain.
        public static let stopped = Self(storage: .stopped)
        /// The store is closed.
        public static let closed = Self(storage: .closed)
        /// An SQL statement has a syntax error, is not allowed, or needs another number of values.
        public static let invalidStatement = Self(storage: .invalidStatement)
        /// An SQL statement failed, for example because of a constraint.
        public static let statementFailed = Self(storage: .statementFailed)
        /// The attempt to handle the message is over, so the message can no longer be completed.
        public static let attemptEnded = Self(storage: .attemptEnded)
        /// The message was not delivered by a store.
        public static let notDurable = Self(storage: .notDurable)
        /// An argument of the call is invalid.
        public static let invalidArgument = Self(storage: .invalidArgument)
        /// The transaction was used after its closure had returned.
        public static let transactionEnded = Self(storage: .transactionEnded)
        /// The store is already attached to a bus.
        public static let alreadyAttached = Self(storage: .alreadyAttached)
    }
}
#endif

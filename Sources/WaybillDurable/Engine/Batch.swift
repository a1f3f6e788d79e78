#if Durable
internal import Logging

/// A transaction of the file, in which the engine performs all work that has arrived.
///
/// A batch exists on the thread of the engine, from BEGIN to COMMIT. The batch changes a copy of the engine's
/// state, which the engine takes over after the commit.
final class Batch {
    let database: Database
    /// The time of the store's clock at which the batch began.
    let now: Int
    let settings: StoreSettings
    var state: StoreState
    /// The messages whose attempts begin after the transaction has been committed.
    var begun: [StoredMessage] = []
    /// The errors that are logged after the commit, and not each time that the engine repeats the batch while
    /// the disk is full.
    var errors: [(message: Logger.Message, metadata: Logger.Metadata)] = []
    /// Whether the batch has declared or removed a schedule.
    var schedulesChanged = false
    /// Whether the file has reached its size limit; nil if the next send must read the size again.
    var isFull: Bool?

    init(_ database: Database, settings: StoreSettings, state: StoreState, at now: Int) {
        self.database = database
        self.settings = settings
        self.state = state
        self.now = now
    }

    /// Runs code of the program in a savepoint, so that its failure affects no other work of the batch.
    func runProgram<Value>(_ body: () throws -> Value) throws -> Value {
        let configuration = self.settings.configuration
        let start = ContinuousClock.now
        defer {
            let duration = ContinuousClock.now - start
            if duration > configuration.slowTransaction {
                configuration.logger.warning(
                    "a transaction kept all sends of the store waiting; make it shorter",
                    metadata: ["duration": "\(duration)"]
                )
            }
        }
        return try self.inSavepoint {
            try self.database.withProgramAccess(limit: configuration.transactionLimit) {
                let value = try body()
                // The closure possibly caught and ignored the failure of a statement, so check again.
                try self.checkProgram()
                return value
            }
        }
    }

    /// Runs work whose changes are all undone if it throws.
    func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        try self.database.run("SAVEPOINT work")
        // A copy of the array would make each append in the savepoint copy the whole array.
        let (state, begun) = (self.state, self.begun.count)
        do {
            let value = try body()
            try self.database.run("RELEASE work")
            return value
        } catch {
            self.state = state
            self.begun.removeLast(self.begun.count - begun)
            // The rows that have filled the file are possibly gone.
            self.isFull = nil
            if self.database.isInTransaction {
                try self.database.run("ROLLBACK TO work")
                try self.database.run("RELEASE work")
            }
            throw error
        }
    }

    /// The problem of a transaction that a statement of the program has rolled back, and the remedy.
    static let rollback =
        "a statement rolled the transaction back, for example by ON CONFLICT ROLLBACK; use ABORT"

    /// Throws an error if nothing more may be written, because a statement of the program has rolled the
    /// transaction back, or the program has used the database for longer than its limit.
    func checkProgram() throws(DurableError) {
        let limit = self.settings.configuration.transactionLimit
        let problem: String
        if self.database.observer.isOverdue {
            problem = "the transaction took longer than its limit of \(limit); make it shorter"
        } else if !self.database.isInTransaction {
            problem = Self.rollback
        } else {
            return
        }
        throw DurableError(.statementFailed, message: "\(problem) (nothing was written)")
    }
}

/// The state in memory that belongs to the committed content of the file.
struct StoreState {
    var lanes = Lanes()
    /// The numbers that the file has reserved, so that most messages need no write for their number.
    var numbers = 0..<0
    var schedules = ScheduleTable()
    /// The attempts and commits since the store was opened; the counts of messages are 0.
    var statistics = DurableStatistics()
}

/// Work for the next commit: a send, a transaction of the program, or the outcome of an attempt.
struct StoreWork: Sendable {
    /// Whether the work is tried again when the disk is full; otherwise, the caller receives the failure.
    var mustSucceed = false
    /// Performs the work in a batch, and returns a closure that reports the result after the commit.
    let perform: @Sendable (Batch) -> () -> Void
    /// Reports the failure of the whole batch to the caller of the work.
    let reject: @Sendable (DurableError) -> Void
}

extension StoreWork {
    /// Creates work that is tried again, and whose own failure is logged with the URL of its message.
    init(
        retrying work: @escaping @Sendable (Batch) throws -> Void,
        failure: Logger.Message,
        url: String? = nil
    ) {
        self.init(mustSucceed: true) { batch in
            do {
                try work(batch)
            } catch {
                var metadata: Logger.Metadata = ["error": "\(error)"]
                metadata["url"] = url.map { "\($0)" }
                batch.errors.append((failure, metadata))
            }
            return {}
        } reject: { _ in
            // The file still contains the messages of the work, and the next process handles them.
        }
    }
}
#endif

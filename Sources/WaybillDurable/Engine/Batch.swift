#if Durable
internal import Logging
internal import Waybill
internal import WaybillRouting

/// The transaction of the file in which the engine performs all work that has arrived.
///
/// A batch exists on the thread of the engine, from BEGIN to COMMIT. Its changes to the lanes and to the
/// numbers of messages take effect when the transaction has been committed.
final class Batch {
    let tables: StoreTables
    /// The time of the store's clock at which the batch began.
    let now: Int
    let settings: StoreSettings
    /// The figures of the store before this batch.
    let figures: StoreFigures
    private(set) var lanes: Lanes
    private(set) var numbers: MessageNumbers
    /// The messages whose attempts begin when the transaction has been committed.
    private(set) var begun: [BegunMessage] = []
    /// The failure that makes the whole batch fail; nil if there is none.
    private(set) var failure: DurableError?
    /// Whether the batch has declared or removed a schedule.
    var schedulesChanged = false
    private var isFull: Bool?

    init(
        _ tables: StoreTables,
        settings: StoreSettings,
        lanes: Lanes,
        numbers: MessageNumbers,
        figures: StoreFigures,
        at now: Int
    ) {
        self.tables = tables
        self.settings = settings
        self.lanes = lanes
        self.numbers = numbers
        self.figures = figures
        self.now = now
        // A commit that failed has reported its failure already.
        _ = tables.database.takeFailure()
    }

    /// Runs work, and records a failure that concerns the whole batch.
    func attempt<Value>(_ body: () throws -> Value) -> Result<Value, any Error> {
        let result = Result { try body() }
        if let failure = self.tables.database.takeFailure() { self.failure = failure }
        return result
    }

    /// Runs code of the program in a savepoint, so that its failure affects no other work of the batch.
    func attemptProgram<Value>(_ body: () throws -> Value) -> Result<Value, any Error> {
        self.attempt {
            try self.tables.beginProgram()
            let (lanes, numbers, begun) = (self.lanes, self.numbers, self.begun)
            do {
                let limit = self.settings.configuration.transactionLimit
                let value = try self.tables.database.withProgramAccess(limit: limit, body)
                // The closure may have ignored the failure of a statement.
                try self.checkTransaction()
                try self.tables.endProgram()
                return value
            } catch {
                (self.lanes, self.numbers, self.begun) = (lanes, numbers, begun)
                if self.tables.database.isInTransaction { try self.tables.undoProgram() }
                throw error
            }
        }
    }

    /// Whether a statement of the work has rolled the whole batch back, so that the rest must run again.
    var isRolledBack: Bool { self.failure == nil && !self.tables.database.isInTransaction }

    /// Throws when a statement has rolled the transaction back, so that nothing may be written any more.
    func checkTransaction() throws(DurableError) {
        guard self.tables.database.isInTransaction else {
            throw DurableError(
                .statementFailed,
                message: "a statement rolled the transaction back, so that nothing of it was written"
            )
        }
    }

    /// Changes the lanes.
    func updateLanes(_ body: (inout Lanes) -> Void) { body(&self.lanes) }
}

// The life of a message: sent, begun, and completed, retried or dead.
extension Batch {
    /// Writes a message, and begins its first attempt if it is due and its lane has a free slot.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - isFollowUp: Whether the message follows from one that the store has accepted, so that the limit on
    ///     the size of the file does not apply.
    /// - Returns: The number of the message, or of the message that was sent with the same key.
    /// - Throws: `sizeLimitReached`, or a failure of the file.
    func send(_ message: NewMessage, isFollowUp: Bool = false) throws(DurableError) -> DurableReceipt {
        let lane = message.lane
        if let key = message.key, let id = try self.tables.message(withKey: key, at: self.now) {
            return DurableReceipt(id: id, isDuplicate: true)
        }
        if !isFollowUp { try self.checkSize() }
        let id = try self.numbers.next(in: self.tables.database)
        self.addLane(lane)
        var state = StoreTables.State.waiting
        if let order = message.order, try self.tables.hasMessage(inOrder: order) {
            state = .behind
        } else if message.delay <= .zero, self.lanes.takeSlot(in: lane, at: self.now) {
            state = .begun
        } else {
            self.lanes.wait(in: lane, until: StoreClock.adding(message.delay, to: self.now))
        }
        do throws(DurableError) {
            try self.tables.insert(message, as: state, id: id, at: self.now)
        } catch {
            // The program may catch the error and commit the rest of its transaction.
            if state == .begun { self.lanes.freeSlot(in: lane) }
            throw error
        }
        if let key = message.key {
            let expiry = StoreClock.adding(
                message.keyLifetime ?? self.settings.configuration.keyLifetime,
                to: self.now
            )
            try self.tables.keep(key, of: id, until: expiry, at: self.now)
        }
        if state == .begun {
            self.begun.append(
                BegunMessage(
                    id: id,
                    url: message.url,
                    lane: lane,
                    order: message.order,
                    details: message.details,
                    attempts: 1,
                    expires: message.lifetime.map { StoreClock.adding($0, to: self.now) },
                    sent: self.now
                )
            )
        }
        return DurableReceipt(id: id, isDuplicate: false)
    }

    /// Deletes a message that has been handled, and sends the value for its return URL.
    ///
    /// - Returns: Whether the attempt was underway. If it was not, nothing is written.
    func complete(_ message: BegunMessage, returning value: NewMessage?) throws(DurableError) -> Bool {
        guard try self.tables.delete(message.id, attempt: message.attempts) else { return false }
        try self.follow(message.order)
        if let value { _ = try self.send(value, isFollowUp: true) }
        return true
    }

    /// Ends an attempt that failed: the message waits for the next attempt, or becomes a dead letter.
    func fail(
        _ message: BegunMessage,
        with error: RoutingError,
        by policy: DurablePolicy
    ) throws(DurableError) {
        let due = StoreClock.adding(policy.backoff.delay(after: message.attempts), to: self.now)
        let isExpired = message.expires.map { $0 <= due } ?? false
        if error.isPermanent || isExpired || message.attempts >= policy.attempts {
            try self.kill(message, with: error)
            return
        }
        // The process has survived the attempt, so a message from the lane of interrupted ones goes back to its own.
        let lane = self.settings.policies.lane(ofStored: message.url)
        let attempts = message.attempts
        if try self.tables.retry(message, in: lane, at: due, attempts: attempts, failure: error.line) {
            self.addLane(lane)
            self.lanes.wait(in: lane, until: due)
        }
    }

    /// Ends an attempt without counting it, because the bus has shut down, and stops delivery.
    func release(_ message: BegunMessage) throws(DurableError) {
        let attempts = message.attempts - 1
        _ = try self.tables.retry(message, in: message.lane, at: self.now, attempts: attempts, failure: nil)
        self.lanes.isDelivering = false
    }

    /// Moves a message to the dead letters.
    func kill(_ message: BegunMessage, with error: RoutingError) throws(DurableError) {
        try self.tables.bury(message, code: "\(error.code)", failure: error.line, at: self.now)
        guard try self.tables.delete(message.id, attempt: message.attempts) else { return }
        try self.follow(message.order)
        self.settings.configuration.logger.error(
            "a durable message is now a dead letter",
            metadata: [
                "url": "\(message.url)", "id": "\(message.id)", "attempts": "\(message.attempts)",
                "error": "\(error.line)",
            ]
        )
    }

    private func follow(_ order: String?) throws(DurableError) {
        guard let order, let lane = try self.tables.follow(order) else { return }
        self.addLane(lane)
        // The message may be delayed, so the lane reads its time from the file.
        self.lanes.wait(in: lane, until: try self.tables.nextDue(of: lane) ?? self.now)
    }

    /// Begins the attempts that are due, as far as the lanes have free slots.
    func beginDue() throws(DurableError) {
        for (lane, slots) in self.lanes.ready(at: self.now) {
            let messages = try self.tables.dueMessages(of: lane, at: self.now, limit: slots)
            var begun = 0
            for var message in messages {
                let isExpired = message.expires.map { $0 <= self.now } ?? false
                // The attempt of an expired message does not take place, so it does not count.
                if isExpired { message.attempts -= 1 }
                try self.tables.begin(message.id, attempt: message.attempts)
                if isExpired {
                    try self.kill(message, with: .deadlineExceeded(of: message.url))
                } else {
                    self.begun.append(message)
                    begun += 1
                }
            }
            self.lanes.begin(begun, in: lane, nextDue: try self.tables.nextDue(of: lane))
        }
    }

    func addLane(_ lane: String) {
        guard !self.lanes.hasLane(lane) else { return }
        self.lanes.setLimit(self.settings.policies.concurrency(of: lane), of: lane)
    }

    private func hasReachedLimit() throws(DurableError) -> Bool {
        try self.tables.usedSize() >= self.settings.configuration.sizeLimit
    }

    private func checkSize() throws(DurableError) {
        if self.isFull == nil {
            var isFull = try self.hasReachedLimit()
            if isFull {
                // Sends with a key delete two expired keys each, and a full store has no such sends.
                try self.tables.dropKeys(at: self.now, limit: 1_000)
                isFull = try self.hasReachedLimit()
            }
            self.isFull = isFull
        }
        if self.isFull == true {
            throw DurableError(
                .sizeLimitReached,
                message: "\(self.tables.database.path) has reached its limit of "
                    + "\(self.settings.configuration.sizeLimit) bytes; let messages complete, drop dead "
                    + "letters, or raise sizeLimit"
            )
        }
    }
}

/// The work of a store since it was opened.
struct StoreFigures {
    private(set) var attempts = 0
    private(set) var commits = 0
    private(set) var commitTime = Duration.zero

    /// Adds a batch that has been committed.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts that have begun.
    ///   - duration: The duration of the commit; nil if the batch has written nothing.
    mutating func add(begun attempts: Int, commit duration: Duration?) {
        self.attempts += attempts
        guard let duration else { return }
        self.commits += 1
        self.commitTime += duration
    }
}

/// The numbers of messages, which are never used twice.
///
/// The file holds the end of the reserved numbers, so that most messages need no write for their number.
struct MessageNumbers {
    private var following: Int
    private var reserved: Int

    /// Creates numbers that begin where the reservation in the file ends.
    init(after reserved: Int) {
        self.following = reserved
        self.reserved = reserved
    }

    mutating func next(in database: Database) throws(DurableError) -> Int {
        if self.following == self.reserved {
            self.reserved += 10_000
            try StoreTables.set("next", to: self.reserved, in: database)
        }
        defer { self.following += 1 }
        return self.following
    }
}

extension RoutingError {
    /// The error as one line, with its root cause.
    var line: String { "\(self)" }

    /// Whether another attempt would fail in the same way, unless the program changes.
    var isPermanent: Bool {
        let code = self.rootCause.code
        return [.invalidURL, .missingParameter, .invalidParameter, .typeMismatch, .notTransferable].contains(
            code
        )
    }

    static func deadlineExceeded(of url: String) -> RoutingError {
        RoutingError(
            .deadlineExceeded,
            url: url,
            message: "the message expired in the store before it was handled"
        )
    }
}
#endif

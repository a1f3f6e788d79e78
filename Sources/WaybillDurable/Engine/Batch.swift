#if Durable
internal import Logging
internal import Waybill
internal import WaybillRouting

/// A transaction of the file, in which the engine performs all work that has arrived.
///
/// A batch exists on the thread of the engine, from BEGIN to COMMIT. The batch changes a copy of the engine's
/// state, which the engine takes over after the commit.
final class Batch {
    let tables: StoreTables
    /// The time of the store's clock at which the batch began.
    let now: Int
    let settings: StoreSettings
    var state: StoreState
    /// The messages whose attempts begin after the transaction has been committed.
    private(set) var begun: [BegunMessage] = []
    /// The errors that are logged after the commit.
    private(set) var errors: [(message: Logger.Message, metadata: Logger.Metadata)] = []
    /// The failure because of which the whole batch fails; nil if no such failure has occurred.
    private(set) var failure: DurableError?
    /// Whether the batch has declared or removed a schedule.
    var schedulesChanged = false
    private var isFull: Bool?

    init(_ tables: StoreTables, settings: StoreSettings, state: StoreState, at now: Int) {
        self.tables = tables
        self.settings = settings
        self.state = state
        self.now = now
        // If the previous commit failed, its failure has already been reported, so discard it.
        _ = tables.database.takeFailure()
    }

    /// Logs an error when the batch has been committed.
    ///
    /// While the disk is full, the engine repeats the batch, and the error would be logged each time.
    func logAfterCommit(_ message: Logger.Message, metadata: Logger.Metadata) {
        self.errors.append((message, metadata))
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
            try self.inSavepoint {
                let limit = self.settings.configuration.transactionLimit
                let value = try self.tables.database.withProgramAccess(limit: limit) {
                    let value = try body()
                    // The closure possibly caught and ignored the failure of a statement, so check again.
                    try self.checkLimit()
                    return value
                }
                try self.checkTransaction()
                return value
            }
        }
    }

    /// Runs work whose changes are all undone if it throws.
    private func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        try self.tables.run("SAVEPOINT work")
        // A copy of the array would make each append in the savepoint copy the whole array.
        let (state, begun) = (self.state, self.begun.count)
        do {
            let value = try body()
            try self.tables.run("RELEASE work")
            return value
        } catch {
            self.state = state
            self.begun.removeLast(self.begun.count - begun)
            // The rows that have filled the file are possibly gone.
            self.forgetSize()
            if self.tables.database.isInTransaction {
                try self.tables.run("ROLLBACK TO work")
                try self.tables.run("RELEASE work")
            }
            throw error
        }
    }

    /// Throws an error if code of the program has used the database for longer than its limit.
    func checkLimit() throws(DurableError) {
        guard self.tables.database.isOverdue else { return }
        let limit = self.settings.configuration.transactionLimit
        throw DurableError(
            .statementFailed,
            message: "the transaction took longer than its limit of \(limit), so nothing was "
                + "written; make it shorter"
        )
    }

    /// Whether a statement has rolled the whole batch back, so that the engine must run the other work again.
    var isRolledBack: Bool { self.failure == nil && !self.tables.database.isInTransaction }

    /// Throws an error if a statement has rolled the transaction back, because nothing more may be written.
    func checkTransaction() throws(DurableError) {
        guard self.tables.database.isInTransaction else {
            throw DurableError(
                .statementFailed,
                message: "a statement rolled the transaction back, so nothing was written"
            )
        }
    }
}

// The life of a message: it is sent, an attempt begins, and the message is completed, retried or a dead
// letter.
extension Batch {
    /// Writes a message, and begins the first attempt if the message is due and its lane permits an attempt.
    ///
    /// A message that the store has already accepted causes a follow-up, so the limit on the file's size does
    /// not apply to it. If an earlier message has the same key, the receipt has that message's number.
    func send(_ message: NewMessage, isFollowUp: Bool = false) throws(DurableError) -> DurableReceipt {
        let lane = message.lane
        if let key = message.key, let id = try self.tables.message(withKey: key, at: self.now) {
            return DurableReceipt(id: id, isDuplicate: true)
        }
        if !isFollowUp { try self.checkSize() }
        let id = try self.state.numbers.next(in: self.tables)
        self.addLane(lane)
        var state = DurableRecord.State.waiting
        if let order = message.order, try self.tables.hasMessage(inOrder: order) {
            state = .behind
        } else if message.delay <= .zero, self.state.lanes.takeSlot(in: lane, at: self.now) {
            state = .underway
        } else {
            self.state.lanes.wait(in: lane, until: StoreClock.adding(message.delay, to: self.now))
        }
        do throws(DurableError) {
            try self.tables.insert(message, as: state, id: id, at: self.now)
        } catch {
            // The program may catch the error and commit the other parts of its transaction, so undo the
            // change of the lane.
            if state == .underway { self.state.lanes.freeSlot(in: lane) }
            throw error
        }
        if let key = message.key {
            let expiry = StoreClock.adding(
                message.keyLifetime ?? self.settings.configuration.keyLifetime,
                to: self.now
            )
            try self.tables.keep(key, of: id, until: expiry, at: self.now)
        }
        if state == .underway {
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

    /// Deletes a handled message, and sends its value to the return URL; false if the attempt was over.
    func complete(_ message: BegunMessage, returning value: NewMessage?) throws -> Bool {
        // Most messages have only this statement, so they need no savepoint.
        if message.order == nil, value == nil {
            return try self.tables.delete(message.id, attempt: message.attempts)
        }
        return try self.inSavepoint {
            guard try self.tables.delete(message.id, attempt: message.attempts) else { return false }
            try self.follow(message.order)
            if let value { _ = try self.send(value, isFollowUp: true) }
            return true
        }
    }

    /// Ends an attempt that failed: the message waits for the next attempt, or becomes a dead letter.
    func fail(
        _ message: BegunMessage,
        with error: RoutingError,
        by policy: DurablePolicy
    ) throws {
        let due = StoreClock.adding(policy.backoff.delay(after: message.attempts), to: self.now)
        let isExpired = message.expires.map { $0 <= due } ?? false
        if error.isPermanent || isExpired || message.attempts >= policy.attempts {
            try self.kill(message, with: error)
            return
        }
        // The process did not end during the attempt, so the message returns from the lane for interrupted
        // messages to the lane of its policy.
        let lane = self.settings.policies.lane(ofStored: message.url)
        let attempts = message.attempts
        if try self.tables.retry(message, in: lane, at: due, attempts: attempts, failure: "\(error)") {
            self.addLane(lane)
            self.state.lanes.wait(in: lane, until: due)
        }
    }

    /// Ends an attempt, which does not count, because the bus has shut down.
    func release(_ message: BegunMessage) throws(DurableError) {
        let attempts = message.attempts - 1
        _ = try self.tables.retry(message, in: message.lane, at: self.now, attempts: attempts, failure: nil)
    }

    /// Moves a message to the dead letters.
    func kill(_ message: BegunMessage, with error: RoutingError) throws {
        let isDead = try self.inSavepoint {
            try self.tables.bury(message, code: "\(error.code)", failure: "\(error)", at: self.now)
            guard try self.tables.delete(message.id, attempt: message.attempts) else { return false }
            try self.follow(message.order)
            return true
        }
        guard isDead else { return }
        self.logAfterCommit(
            "a durable message is now a dead letter",
            metadata: [
                "url": "\(message.url)", "id": "\(message.id)", "attempts": "\(message.attempts)",
                "error": "\(error)",
            ]
        )
    }

    private func follow(_ order: String?) throws(DurableError) {
        guard let order, let lane = try self.tables.follow(order) else { return }
        self.addLane(lane)
        // The next message of the order possibly has a delay, so read the next time of the lane from the
        // file.
        self.state.lanes.wait(in: lane, until: try self.tables.nextDue(of: lane) ?? self.now)
    }

    /// Begins the attempts that are due, as many as the limits of the lanes permit.
    func beginDue() throws {
        for lane in self.state.lanes.due(at: self.now) {
            // The policy of the lane has possibly changed.
            self.addLane(lane)
            let slots = self.state.lanes.freeSlots(in: lane)
            guard slots > 0, let messages = try self.messagesToBegin(in: lane, limit: slots) else { continue }
            var begun = 0
            for var message in messages {
                let isExpired = message.expires.map { $0 <= self.now } ?? false
                // An expired message is not attempted, so the attempt does not count.
                if isExpired { message.attempts -= 1 }
                try self.tables.begin(message.id, attempt: message.attempts)
                if isExpired {
                    let reason = "the message expired in the store before it was handled"
                    try self.kill(
                        message,
                        with: RoutingError(.deadlineExceeded, url: message.url, message: reason)
                    )
                } else {
                    self.begun.append(message)
                    begun += 1
                }
            }
            self.state.lanes.begin(begun, in: lane, nextDue: try self.tables.nextDue(of: lane))
        }
    }

    /// Returns the due messages of a lane after it has moved other messages to the lanes of their policies.
    ///
    /// Returns nil if possibly more messages must be moved. The next batch then moves them, so that sends do
    /// not wait for the moves of all messages.
    private func messagesToBegin(in lane: String, limit: Int) throws(DurableError) -> [BegunMessage]? {
        var moved = 0
        while moved < 1_000 {
            let messages = try self.tables.dueMessages(of: lane, at: self.now, limit: limit)
            let count = try self.moveToOtherLanes(messages, from: lane)
            if count == 0 { return messages }
            moved += count
        }
        return nil
    }

    /// Moves messages to the lanes of their policies, and returns the number of messages that were moved.
    ///
    /// The policies have possibly changed since the lanes were chosen. For example, `waybill store` sends
    /// dead letters again without the policies of the program.
    private func moveToOtherLanes(_ messages: [BegunMessage], from lane: String) throws(DurableError) -> Int {
        if lane == DurablePolicies.interruptedLane { return 0 }
        var count = 0
        for message in messages {
            let current = self.settings.policies.lane(ofStored: message.url)
            if current == lane { continue }
            try self.tables.move(message.id, to: current)
            self.addLane(current)
            self.state.lanes.wait(in: current, until: self.now)
            count += 1
        }
        return count
    }

    /// Adds a lane if it does not exist, and sets its limit to the limit of its current policy.
    func addLane(_ lane: String) {
        self.state.lanes.setLimit(self.settings.policies.concurrency(of: lane), of: lane)
    }

    /// Makes the next send read the file's size again, because earlier sends have possibly reached the limit.
    func forgetSize() { self.isFull = nil }

    private func checkSize() throws(DurableError) {
        let limit = self.settings.configuration.sizeLimit
        if self.isFull == nil {
            var isFull = try self.tables.usedSize() >= limit
            if isFull {
                // Each send with a key deletes two expired keys. A full store accepts no sends, so delete
                // expired keys here.
                try self.tables.dropKeys(at: self.now, limit: 1_000)
                isFull = try self.tables.usedSize() >= limit
            }
            self.isFull = isFull
        }
        if self.isFull == true {
            throw DurableError(
                .sizeLimitReached,
                message: "\(self.tables.database.path) has reached its limit of \(limit) bytes; let messages "
                    + "complete, drop dead letters, remember keys for a shorter time, or raise sizeLimit"
            )
        }
    }
}

/// The state in memory that belongs to the committed content of the file.
struct StoreState {
    /// The queues of messages.
    var lanes = Lanes()
    var numbers = MessageNumbers(after: 0)
    var schedules = ScheduleTable()
    /// The attempts and commits since the store was opened; the counts of messages are 0.
    var statistics = DurableStatistics()
}

/// The numbers of messages, none of which is used twice.
///
/// The file contains the end of a range of reserved numbers, so that most messages need no write for their
/// number.
struct MessageNumbers {
    private var following: Int
    private var reserved: Int

    /// Creates numbers that begin after the numbers that the file has reserved.
    init(after reserved: Int) {
        self.following = reserved
        self.reserved = reserved
    }

    mutating func next(in tables: StoreTables) throws(DurableError) -> Int {
        if self.following == self.reserved {
            self.reserved += 10_000
            try tables.set("next", to: self.reserved)
        }
        defer { self.following += 1 }
        return self.following
    }
}

extension RoutingError {
    /// Whether another attempt would fail in the same way, unless the program is changed.
    ///
    /// A message that the handler sends may fail for a reason that passes.
    var isPermanent: Bool {
        let root = self.rootCause
        return (root.url.isEmpty || root.url == self.url)
            && [.invalidURL, .missingParameter, .invalidParameter, .typeMismatch, .notTransferable]
                .contains(root.code)
    }
}
#endif

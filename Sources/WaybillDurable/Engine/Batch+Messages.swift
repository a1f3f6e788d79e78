#if Durable
internal import Logging
internal import Waybill
internal import WaybillRouting

// The life of a message: it is sent, attempts begin, and it is completed or becomes a dead letter.
extension Batch {
    /// Writes a message, and begins the first attempt if the message is due and its lane permits an attempt.
    ///
    /// A message that the store has already accepted causes a follow-up, so the limit on the file's size does
    /// not apply to it. If an earlier message has the same key, the receipt has that message's number.
    func send(_ message: StoredMessage, isFollowUp: Bool = false) throws -> DurableReceipt {
        if let key = message.key {
            let id = try self.database.statement("SELECT id FROM waybill_keys WHERE key = ? AND expires > ?")
                .first([key, self.now]) { $0.int(0) }
            if let id { return DurableReceipt(id: id, isDuplicate: true) }
        }
        if !isFollowUp { try self.checkSize() }
        guard let key = message.key else {
            return DurableReceipt(id: try self.insert(message), isDuplicate: false)
        }
        // The program may catch an error of a statement, and commit the rest of its transaction, so write the
        // message and its key together or not at all.
        return try self.inSavepoint {
            let id = try self.insert(message)
            let lifetime = message.keyLifetime ?? self.settings.configuration.keyLifetime
            // A delayed message must not lose its key before it is due.
            let due = StoreClock.adding(message.delay, to: self.now)
            try self.database.run(
                "INSERT OR REPLACE INTO waybill_keys (key, id, expires) VALUES (?,?,?)",
                [key, id, StoreClock.adding(lifetime, to: due)]
            )
            try self.dropKeys(limit: 2)
            return DurableReceipt(id: id, isDuplicate: false)
        }
    }

    /// Writes a message without its key, and returns the message's number.
    private func insert(_ message: StoredMessage) throws(DurableError) -> Int {
        var message = message
        message.id = try self.nextNumber()
        message.sent = self.now
        message.expires = message.lifetime.map { StoreClock.adding($0, to: self.now) }
        self.addLane(message.lane)
        var state = DurableRecord.State.waiting
        if let order = message.order, try self.hasMessage(inOrder: order) {
            state = .behind
        } else if message.delay <= .zero, self.state.lanes.hasSlot(in: message.lane, at: self.now) {
            state = .underway
            message.attempts = 1
        }
        let due = StoreClock.adding(message.delay, to: self.now)
        try self.database.run(
            """
            INSERT INTO waybill_messages
            (id, state, url, lane, due, sent, attempts, expires, order_key, details) VALUES (?,?,?,?,?,?,?,?,?,?)
            """,
            [
                message.id, state.number, message.url, message.lane, due, message.sent, message.attempts,
                message.expires, message.order, message.details,
            ]
        )
        // Change the lane if and only if the message has been inserted.
        if state == .waiting { self.state.lanes.wait(in: message.lane, until: due) }
        if state == .underway { self.begin(message) }
        return message.id
    }

    /// Takes a slot of the message's lane, for an attempt that begins after the commit.
    private func begin(_ message: StoredMessage) {
        self.state.lanes.takeSlot(in: message.lane)
        self.begun.append(message)
    }

    /// Returns a number that is not used twice.
    private func nextNumber() throws(DurableError) -> Int {
        if self.state.numbers.isEmpty {
            let start = self.state.numbers.upperBound
            try self.database.set("next", to: start + 10_000)
            self.state.numbers = start..<start + 10_000
        }
        return self.state.numbers.removeFirst()
    }

    private func hasMessage(inOrder order: String) throws(DurableError) -> Bool {
        try self.database.statement("SELECT 1 FROM waybill_messages WHERE order_key = ? LIMIT 1")
            .first([order]) { _ in true } ?? false
    }

    /// Deletes expired keys, at most `limit`.
    private func dropKeys(limit: Int) throws(DurableError) {
        try self.database.run(
            """
            DELETE FROM waybill_keys WHERE key IN
            (SELECT key FROM waybill_keys WHERE expires <= ? ORDER BY expires LIMIT ?)
            """,
            [self.now, limit]
        )
    }

    private func checkSize() throws(DurableError) {
        let limit = self.settings.configuration.sizeLimit
        if self.isFull == nil {
            self.isFull = try self.database.usedSize() >= limit
            if self.isFull == true {
                // Sends with keys delete expired keys, but a full store accepts no sends.
                try self.dropKeys(limit: 1_000)
                self.isFull = try self.database.usedSize() >= limit
            }
        }
        guard self.isFull == true else { return }
        let message =
            "\(self.database.path) has reached its limit of \(limit) bytes; let messages complete, drop dead "
            + "letters, remember keys for a shorter time, or raise sizeLimit"
        throw DurableError(.sizeLimitReached, message: message)
    }

    /// Deletes a handled message, and sends its value to the return URL; false if the attempt was over.
    func complete(_ message: StoredMessage, returning value: StoredMessage?) throws -> Bool {
        // Most messages have only this statement, so they need no savepoint.
        if message.order == nil, value == nil { return try self.delete(message) }
        return try self.inSavepoint {
            guard try self.delete(message) else { return false }
            if let value { _ = try self.send(value, isFollowUp: true) }
            return true
        }
    }

    /// Ends an attempt that failed: the message waits for the next attempt, or becomes a dead letter.
    func fail(_ message: StoredMessage, with error: RoutingError, by policy: DurablePolicy) throws {
        let due = StoreClock.adding(policy.backoff.delay(after: message.attempts), to: self.now)
        if error.isPermanent || message.isExpired(at: due) || message.attempts >= policy.attempts {
            return try self.kill(message, with: error)
        }
        // The process did not end during the attempt, so the message returns from the lane for interrupted
        // messages to the lane of its policy.
        let lane = self.settings.policies.lane(ofStored: message.url)
        try self.retry(message, in: lane, at: due, attempts: message.attempts, failure: "\(error)")
    }

    /// Ends an attempt, which does not count, because the bus has shut down.
    func release(_ message: StoredMessage) throws(DurableError) {
        try self.retry(message, in: message.lane, at: self.now, attempts: message.attempts - 1)
    }

    /// Ends an attempt, so that the message waits for the next, unless the attempt was already over.
    private func retry(
        _ message: StoredMessage,
        in lane: String,
        at due: Int,
        attempts: Int,
        failure: String? = nil
    ) throws(DurableError) {
        try self.database.run(
            """
            UPDATE waybill_messages SET state = 0, lane = ?, due = ?, attempts = ?,
            failure = coalesce(?, failure), interruptions = 0
            WHERE id = ? AND state = 1 AND attempts = ?
            """,
            [lane, due, attempts, failure, message.id, message.attempts]
        )
        if self.database.changes == 1 { self.wait(in: lane, until: due) }
    }

    /// Moves a message to the dead letters.
    func kill(_ message: StoredMessage, with error: RoutingError) throws {
        let isDead = try self.inSavepoint {
            try self.database.run(
                """
                INSERT INTO waybill_dead (id, url, order_key, details, sent, died, attempts, code, failure)
                SELECT id, url, order_key, details, sent, ?, attempts, ?, ? FROM waybill_messages
                WHERE id = ? AND state = 1 AND attempts = ?
                """,
                [self.now, "\(error.code)", "\(error)", message.id, message.attempts]
            )
            return try self.delete(message)
        }
        guard isDead else { return }
        let metadata: Logger.Metadata = [
            "url": "\(message.url)", "id": "\(message.id)", "attempts": "\(message.attempts)",
            "error": "\(error)",
        ]
        self.errors.append(("a durable message is now a dead letter", metadata))
    }

    /// Deletes a message if its attempt is still underway, makes the next message with its order key ready,
    /// and returns whether the attempt was underway.
    private func delete(_ message: StoredMessage) throws(DurableError) -> Bool {
        try self.database.run(
            "DELETE FROM waybill_messages WHERE id = ? AND state = 1 AND attempts = ?",
            [message.id, message.attempts]
        )
        guard self.database.changes == 1 else { return false }
        guard let order = message.order else { return true }
        let follow = try self.database.statement(
            """
            UPDATE waybill_messages SET state = 0 WHERE state = 2 AND id =
            (SELECT min(id) FROM waybill_messages WHERE order_key = ?) RETURNING lane
            """
        )
        if let lane = try follow.first([order], { $0.text(0) }) {
            // The message possibly has a delay, so read the next time of the lane from the file.
            self.wait(in: lane, until: try self.database.nextDue(of: lane) ?? self.now)
        }
        return true
    }

    /// Begins the attempts that are due, as many as the limits of the lanes permit.
    func beginDue() throws {
        for lane in self.state.lanes.due(at: self.now) {
            // The policy of the lane has possibly changed.
            self.addLane(lane)
            let slots = self.state.lanes.freeSlots(in: lane)
            guard slots > 0, let messages = try self.messagesToBegin(in: lane, limit: slots) else { continue }
            for var message in messages {
                let isExpired = message.isExpired(at: self.now)
                // An expired message is not attempted, so the attempt does not count.
                if isExpired { message.attempts -= 1 }
                try self.database.run(
                    "UPDATE waybill_messages SET state = 1, attempts = ? WHERE id = ?",
                    [message.attempts, message.id]
                )
                if isExpired {
                    let reason = "the message expired in the store before it was handled"
                    let error = RoutingError(.deadlineExceeded, url: message.url, message: reason)
                    try self.kill(message, with: error)
                } else {
                    self.begin(message)
                }
            }
            self.state.lanes.setNextDue(try self.database.nextDue(of: lane), of: lane)
        }
    }

    /// Returns the due messages of a lane, with numbers of attempts that include the attempt about to begin.
    ///
    /// The policies have possibly changed since the lanes were chosen. For example, `waybill store` sends
    /// dead letters again without the policies of the program. So first moves other messages to the lanes of
    /// their policies. Returns nil if possibly more messages must be moved. The next batch then moves them,
    /// so that sends do not wait for the moves of all messages.
    private func messagesToBegin(in lane: String, limit: Int) throws(DurableError) -> [StoredMessage]? {
        let select = try self.database.statement(
            """
            SELECT id, url, lane, order_key, details, attempts + 1, expires, sent FROM waybill_messages
            WHERE lane = ? AND state = 0 AND due <= ? ORDER BY due, id LIMIT ?
            """
        )
        let update = try self.database.statement("UPDATE waybill_messages SET lane = ? WHERE id = ?")
        var moved = 0
        while moved < 1_000 {
            let messages = try select.rows([lane, self.now, limit]) { StoredMessage($0) }
            if lane == DurablePolicies.interruptedLane { return messages }
            let before = moved
            for message in messages {
                let current = self.settings.policies.lane(ofStored: message.url)
                if current == lane { continue }
                try update.run([current, message.id])
                self.wait(in: current, until: self.now)
                moved += 1
            }
            if moved == before { return messages }
        }
        return nil
    }

    /// Makes messages ready whose attempts were underway when an earlier process ended, and begins delivery.
    ///
    /// A message that was interrupted once is attempted again at once. A message that was interrupted more
    /// than once is possibly the reason why the process ended. This message waits, and is attempted alone,
    /// so that other messages can be completed.
    ///
    /// If the store is already closing, the next process recovers the messages.
    func recover() throws {
        if self.state.lanes.hasEnded { return }
        let database = self.database
        // Somebody may have edited the file. An attempt ends only if its number is exact.
        try database.prepare(
            """
            UPDATE waybill_messages
            SET attempts = max(-?1, min(?1, CAST(attempts AS INTEGER))) WHERE state = 1
            """
        ).run([Statement.largestAmount])
        // The values of the messages may need much memory, so they are not read.
        let interrupted = try database.prepare(
            """
            SELECT id, url, lane, order_key, NULL, attempts, expires, sent, interruptions FROM waybill_messages
            WHERE state = 1 ORDER BY id
            """
        ).rows { (message: StoredMessage($0), interruptions: $0.amount(8) + 1) }
        let update = try database.prepare(
            "UPDATE waybill_messages SET state = 0, due = ?, interruptions = ?, lane = ? WHERE id = ?"
        )
        for (message, interruptions) in interrupted {
            let policy = self.settings.policies.policy(of: message.url)
            if message.attempts >= policy.attempts {
                let reason = "the process ended, or closed the store, during the last attempt"
                try self.kill(message, with: RoutingError(.handlerFailed, url: message.url, message: reason))
                continue
            }
            let isSuspect = interruptions > 1
            let delay = isSuspect ? policy.backoff.delay(after: message.attempts) : .zero
            let due = StoreClock.adding(delay, to: self.now)
            let lane = isSuspect ? DurablePolicies.interruptedLane : message.lane
            try update.run([due, interruptions, lane, message.id])
        }
        // This query jumps from one lane in which messages wait to the next in the index.
        let select = try self.database.prepare(
            """
            WITH RECURSIVE lanes (lane) AS (
                SELECT min(lane) FROM waybill_messages WHERE state = 0
                UNION ALL SELECT (SELECT min(lane) FROM waybill_messages WHERE state = 0 AND lane > lanes.lane)
                FROM lanes WHERE lane IS NOT NULL)
            SELECT lane, (SELECT min(due) FROM waybill_messages AS m WHERE m.lane = lanes.lane AND state = 0)
            FROM lanes WHERE lane IS NOT NULL
            """
        )
        try select.forEachRow {
            if let due = select.optionalAmount(1) { self.wait(in: select.text(0) ?? "", until: due) }
        }
        self.state.lanes.hasBegun = true
    }

    /// Records that a message waits in a lane.
    func wait(in lane: String, until due: Int) {
        self.addLane(lane)
        self.state.lanes.wait(in: lane, until: due)
    }

    /// Adds a lane if it does not exist, and sets its limit to the limit of its current policy.
    func addLane(_ lane: String) {
        self.state.lanes.setLimit(self.settings.policies.concurrency(of: lane), of: lane)
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

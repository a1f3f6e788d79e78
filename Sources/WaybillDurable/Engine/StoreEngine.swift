#if Durable
internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// The actor that owns the file of a store, on a loop with its own thread, or on a loop of a simulation.
///
/// Sends, transactions and outcomes of attempts put ``StoreWork`` into the inbox. The engine takes all work
/// from the inbox and performs it in one transaction, a ``Batch``. All work that arrives during one
/// synchronization of the disk therefore shares the next synchronization. ``Lanes`` decides which attempts
/// begin, and a ``DurableAttempt`` delivers one message to its handler:
///
/// ```
/// send, transaction, complete --> inbox --> Batch: BEGIN, work ..., due messages begin, COMMIT
///                                                                                        |
///            inbox <-- outcome <-- DurableAttempt: bus.route <-- begun messages <--------+--> callers resume
/// ```
actor StoreEngine: LoopBound {
    nonisolated let eventLoop: EventLoop
    private nonisolated let currentSettings: Locked<StoreSettings>
    private nonisolated let inbox = Locked(StoreInbox())
    private var database: Database?
    private var lock: StoreLock?
    /// The ID of the file, by which other processes know the store.
    private var id = ""
    private var state = StoreState()
    private var clock = StoreClock(notBefore: 0)
    private var timer: ScheduledTimer?
    /// Whether the last batch failed and left outcomes; only the first of several failures is logged.
    private var isRetrying = false
    private var drainWaiters: [CheckedContinuation<Void, Never>] = []

    /// Creates the engine of a store; `eventLoop` is nil for a loop with its own thread.
    init(_ configuration: DurableStore.Configuration, on eventLoop: EventLoop? = nil) {
        var loop = EventLoop.Configuration()
        // The loop blocks while the disk synchronizes, and the watchdog would report each of these blocks.
        loop.watchdogThreshold = nil
        // Waking a thread takes longer than many senders need before they send again.
        loop.idlePolicy = .spin(for: .microseconds(50))
        self.eventLoop = eventLoop ?? EventLoop(name: "waybill-store", configuration: loop)
        self.currentSettings = Locked(StoreSettings(configuration))
    }

    func open(_ path: String) throws(DurableError) {
        // The system would end the path before the zero byte, and the lock file would have the same path.
        guard !path.utf8.contains(0) else {
            let message = "the path \(path.debugDescription) has a zero byte; choose another path"
            throw DurableError(.unavailable, message: message)
        }
        // A test's file system has no folder for a lock file. If opening fails, `lock` is released after the
        // database has been closed, and unlocks the file.
        let lock = self.settings.configuration.vfs == nil ? try StoreLock(path) : nil
        defer { withExtendedLifetime(lock) {} }
        do throws(DurableError) {
            try self.openDatabase(path, checkedBy: lock)
        } catch  where error.code == .invalidStatement {
            let message =
                "\(path) has tables with the prefix waybill_ that are not a store's; restore a backup"
            throw DurableError(.corrupt, message: message, cause: error)
        }
        lock?.mark(isOpen: true)
        self.lock = lock
    }

    private func openDatabase(_ path: String, checkedBy lock: StoreLock?) throws(DurableError) {
        let configuration = self.settings.configuration
        let database = try Database(path, vfs: configuration.vfs)
        // Set the exclusive mode before WAL mode. SQLite then keeps the index of the write-ahead log in
        // memory, and no other process can write.
        try database.execute("PRAGMA locking_mode = EXCLUSIVE")
        let mode = try database.prepare("PRAGMA journal_mode = WAL").first { $0.text(0) }
        guard mode == "wal" else {
            let message = "\(path) cannot have a write-ahead log; choose the path of a file on a local disk"
            throw DurableError(.unavailable, message: message)
        }
        // Without this setting, a large query of the program would need a folder for temporary files.
        try database.execute("PRAGMA temp_store = MEMORY")
        try database.execute("PRAGMA synchronous = \(configuration.synchronous)")
        // After a large transaction, SQLite shortens the log when it overwrites the log from its beginning.
        // The log then has a new salt, so the check of its length does not expect the removed pages.
        try database.execute("PRAGMA journal_size_limit = \(2 * 4_096 * configuration.logLimit)")
        // On macOS, only these settings make the drive write its cache.
        try database.execute("PRAGMA fullfsync = ON")
        try database.execute("PRAGMA checkpoint_fullfsync = ON")
        try lock?.check(pages: database.checkpoint())
        try database.execute("BEGIN IMMEDIATE")
        try database.createTables()
        self.id = String(try database.value("id") { $0.int(0) } ?? 0, radix: 16)
        let number = try database.value("next") ?? 1
        self.state.numbers = number..<number
        self.clock = StoreClock(notBefore: try database.lastTime())
        try database.execute("COMMIT")
        try self.state.schedules.readNext(database)
        self.database = database
    }

    nonisolated var settings: StoreSettings { self.currentSettings.withLock { $0 } }

    /// Replaces the settings, unless the closure throws.
    nonisolated func updateSettings<Failure: Error>(
        _ body: (StoreSettings) throws(Failure) -> StoreSettings
    ) throws(Failure) {
        // The previous settings are released when the lock is free again.
        _ = try self.currentSettings.withLock { settings throws(Failure) in
            Swift.exchange(&settings, with: try body(settings))
        }
    }

    /// The reason why the store accepts no work; nil while the store accepts work.
    nonisolated var closingError: DurableError? { self.inbox.withLock { $0.error } }

    /// Puts work into the inbox, from any thread.
    nonisolated func enqueue(_ work: StoreWork) {
        let (error, mustSchedule) = self.inbox.withLock { inbox in
            if inbox.error == nil { inbox.works.append(work) }
            return (inbox.error, inbox.error == nil && !Swift.exchange(&inbox.isScheduled, with: true))
        }
        if let error { work.reject(error) }
        if mustSchedule { self.eventLoop.execute { self.assumeOnLoop { $0.runBatch() } } }
    }

    /// Performs the work in the inbox, and begins the attempts that are due, in one transaction.
    private func runBatch() {
        if self.database == nil { return }
        let works = self.inbox.withLock { inbox in
            inbox.isScheduled = false
            return Swift.exchange(&inbox.works, with: [])
        }
        guard let (rest, error) = self.perform(works[...]) else { return }
        if self.database != nil { return self.fail(rest, with: error) }
        // The job that releases the lock of the file is already in the queue of the loop.
        self.eventLoop.execute { for work in rest { work.reject(error) } }
    }

    /// Performs work in one transaction, or in several if transactions of the program roll back.
    ///
    /// Returns the work that was not committed, and the reason; nil if there is none.
    private func perform(_ works: ArraySlice<StoreWork>) -> (rest: [StoreWork], error: DurableError)? {
        var rest = works
        while true {
            switch self.commit(Array(rest)) {
            case .committed: return nil
            case .failed(let error): return (Array(rest), error)
            case .rolledBack(let culprit):
                // Perform the work before the culprit again, alone, so that a later culprit does not undo it.
                let before = rest.prefix(culprit)
                rest = rest.dropFirst(culprit + 1)
                if !before.isEmpty, let (undone, error) = self.perform(before) {
                    return (undone + rest, error)
                }
            }
        }
    }

    private enum CommitResult {
        case committed
        /// The work with an index has rolled the transaction back, and was rejected.
        case rolledBack(by: Int)
        case failed(DurableError)
    }

    /// Performs work in one transaction.
    private func commit(_ works: [StoreWork]) -> CommitResult {
        guard let database = self.database else {
            // The store has stopped because earlier work of the batch failed.
            let error = DurableError(.stopped, message: "the store has stopped; open the file again")
            return .failed(self.closingError ?? error)
        }
        let batch = Batch(database, settings: self.settings, state: self.state, at: self.clock.now())
        // If the previous commit failed, its failure has already been reported, so discard it.
        database.observer.failure = nil
        var results: [() -> Void] = []
        let commits = database.observer.commits
        let logPages = database.observer.logPages
        do {
            try database.run("BEGIN IMMEDIATE")
            for (index, work) in works.enumerated() {
                results.append(work.perform(batch))
                if let failure = database.observer.failure { throw failure }
                if !database.isInTransaction {
                    // Work that must succeed is tried again later, together with the other work of the batch.
                    if work.mustSucceed {
                        throw DurableError(.statementFailed, message: Batch.rollback)
                    }
                    results.last?()
                    return .rolledBack(by: index)
                }
            }
            try batch.fireSchedules()
            try batch.beginDue()
            let begin = ContinuousClock.now
            try database.run("COMMIT")
            batch.state.statistics.attempts += batch.begun.count
            if database.observer.commits != commits {
                batch.state.statistics.commits += 1
                batch.state.statistics.commitTime += Int((ContinuousClock.now - begin) / .microseconds(1))
                self.lock?.noteCommit(pages: database.observer.logPages)
                if database.hasMoved {
                    let message =
                        "\(database.path) was deleted or replaced while it was open; restore the file"
                    throw DurableError(.inputOutput, message: message)
                }
            }
        } catch {
            let message = "the transaction failed: \(error)"
            let failure = DurableError(.statementFailed, message: message, cause: error)
            return .failed(error as? DurableError ?? failure)
        }
        self.state = batch.state
        self.isRetrying = false
        let logLimit = self.settings.configuration.logLimit
        // A transaction that has written many pages also waits for the copy of these pages, so that the sends
        // after it do not wait.
        if database.observer.logPages - logPages >= logLimit { self.checkpoint(database) }
        for (message, metadata) in batch.errors {
            self.settings.configuration.logger.error(message, metadata: metadata)
        }
        for result in results { result() }
        if let bus = self.settings.bus { for message in batch.begun { self.deliver(message, to: bus) } }
        if !self.drainWaiters.isEmpty, self.isDrained { self.resumeDrainWaiters() }
        if database.observer.logPages >= logLimit { self.checkpoint(database) }
        self.setTimer(after: self.pause)
        return .committed
    }

    /// Handles a batch that could not be committed.
    ///
    /// When the disk is full, the outcomes of attempts stay in the inbox until they can be written, and other
    /// work fails. After a failure that leaves the state of the file uncertain, the store stops.
    private func fail(_ works: [StoreWork], with error: DurableError) {
        if let database, database.isInTransaction { try? database.execute("ROLLBACK") }
        guard error.isFatal else {
            let retried = works.filter(\.mustSucceed)
            for work in works where !work.mustSucceed { work.reject(error) }
            if !retried.isEmpty, !self.isRetrying {
                self.isRetrying = true
                self.settings.configuration.logger.error(
                    "a durable store could not write the outcomes of attempts and tries again",
                    metadata: ["outcomes": "\(retried.count)", "error": "\(error)"]
                )
            }
            self.inbox.withLock { $0.works = retried + $0.works }
            self.setTimer(after: .milliseconds(500))
            return
        }
        self.settings.configuration.logger.critical(
            "a durable store has stopped; open the file again after the cause is removed",
            metadata: ["error": "\(error)"]
        )
        let message = "the store has stopped because of \(error); remove the cause and open the file again"
        let stopped = DurableError(.stopped, message: message, cause: error)
        let rest = self.stop(with: stopped)
        // The calling functions still use the connection, so release the lock after they have returned. A
        // sender that learns of the failure may open the file again.
        self.eventLoop.execute {
            self.assumeOnLoop { $0.lock = nil }
            for work in works { work.reject(error) }
            for work in rest { work.reject(stopped) }
        }
    }

    /// The number of rows after which a long query lets other work of the store have its turn.
    static let rowsPerTurn = 1_000

    /// Replaces the timer by one that performs the next batch after a pause; nil for no timer.
    private func setTimer(after pause: Duration?) {
        self.timer?.cancel()
        self.timer = pause.map { pause in
            self.eventLoop.schedule(at: Deadline(after: pause, by: self.eventLoop.time)) { [weak self] in
                self?.assumeOnLoop { $0.runBatch() }
            }
        }
    }

    /// The pause until the next attempt or schedule is due; nil if there is none.
    private var pause: Duration? {
        guard self.state.lanes.isDelivering else { return nil }
        let next = [self.state.lanes.wakeTime, self.state.schedules.next].compactMap(\.self).min()
        // The store's clock is the wall clock, which somebody may set forward while the timer waits.
        return next.map { .milliseconds(min(max(0, $0 - self.clock.now()), 60_000)) }
    }

    private func checkpoint(_ database: Database) {
        do {
            _ = try database.checkpoint()
            self.lock?.noteCheckpoint()
        } catch {
            self.fail([], with: error)
        }
    }

    private func deliver(_ message: StoredMessage, to bus: MessageBus) {
        let attempt = DurableAttempt(
            message,
            number: "\(self.id)/\(message.id)/\(message.sent)",
            lifetime: message.expires.map { max(0, $0 - self.clock.now()) },
            of: self
        )
        Task(executorPreference: bus.eventLoop.taskExecutor) { await attempt.run(on: bus) }
    }
}

// The beginning and the end of delivery.
extension StoreEngine {
    /// Makes messages ready whose attempts an earlier process did not end, and begins delivery to a bus.
    func attach(_ bus: MessageBus, configuration: MessageBus.Configuration) throws {
        if let error = self.closingError { throw error }
        guard bus.isOpen else {
            throw RoutingError(.shutDown, message: "the bus is shut down and delivers no messages of a store")
        }
        guard self.settings.bus == nil else {
            let message =
                "the store has already been attached to a bus: close the store and open the file again for "
                + "another bus"
            throw DurableError(.alreadyAttached, message: message)
        }
        try self.updateSettings { settings throws(RoutingError) in
            let policies = try settings.policies.with(configuration)
            return StoreSettings(settings.configuration, policies: policies, bus: bus)
        }
        let failure: Logger.Message = "the messages of an earlier process could not be recovered"
        self.enqueue(StoreWork(retrying: { try $0.recover() }, failure: failure))
    }

    /// Whether no attempt is underway, and all outcomes of attempts have been written.
    private var isDrained: Bool {
        self.state.lanes.inFlight == 0 && !self.inbox.withLock { $0.works.contains(where: \.mustSucceed) }
    }

    /// Stops new attempts, waits for the attempts that are underway, and closes the file.
    func close(drainingFor limit: Duration) async {
        self.state.lanes.hasEnded = true
        // Keep the timer. When the disk was full, the timer tries again to write the outcomes of attempts.
        if !self.isDrained, self.database != nil {
            await withCheckedContinuation { continuation in
                self.drainWaiters.append(continuation)
                let deadline = Deadline(after: limit, by: self.eventLoop.time)
                let resume = { @Sendable [weak self] (_: ScheduledTimer.Event) -> Void in
                    self?.assumeOnLoop { $0.resumeDrainWaiters() }
                }
                self.eventLoop.schedule(at: deadline, orAtShutDown: resume)
            }
        }
        self.runBatch()
        let closed = DurableError(.closed, message: "the store is closed: open the file again to use it")
        let rest = self.stop(with: closed)
        self.lock = nil
        for work in rest { work.reject(closed) }
    }

    /// Closes the file, and returns the work that the caller must reject.
    private func stop(with error: DurableError) -> [StoreWork] {
        self.timer?.cancel()
        self.state.lanes.hasEnded = true
        if let database, error.code == .closed {
            try? self.writeEnd(to: database)
            // If the process ends before the file is closed, the next process reads the write-ahead log.
            self.lock?.mark(isOpen: false)
        }
        self.database = nil
        self.updateSettings { StoreSettings($0.configuration, policies: $0.policies) }
        self.resumeDrainWaiters()
        return self.inbox.withLock { inbox in
            if inbox.error == nil { inbox.error = error }
            return Swift.exchange(&inbox.works, with: [])
        }
    }

    /// Writes the time, and makes the messages ready again whose attempts are underway.
    ///
    /// These attempts do not count. A message with a single attempt stays underway, because its handler has
    /// possibly begun, and the next process makes the message a dead letter. If delivery has not begun, an
    /// earlier process has begun the attempts. The next process must then learn of their interruption.
    private func writeEnd(to database: Database) throws(DurableError) {
        try database.run("BEGIN IMMEDIATE")
        try database.set("clock", to: self.clock.now())
        if self.state.lanes.hasBegun {
            let underway = try database.prepare("SELECT id, url FROM waybill_messages WHERE state = 1")
                .rows { (id: $0.int(0), url: $0.text(1) ?? "") }
            let policies = self.settings.policies
            for message in underway where policies.policy(of: message.url).attempts > 1 {
                try database.run(
                    "UPDATE waybill_messages SET state = 0, attempts = attempts - 1 WHERE id = ?",
                    [message.id]
                )
            }
        }
        try database.run("COMMIT")
    }

    /// Ends a simulated store as the end of its process would; the caller must be on the engine's loop.
    nonisolated func abandon() {
        let ended = DurableError(.stopped, message: "the simulated process of the store has ended")
        for work in self.assumeOnLoop({ $0.stop(with: ended) }) { work.reject(ended) }
    }

    private func resumeDrainWaiters() {
        for waiter in Swift.exchange(&self.drainWaiters, with: []) { waiter.resume() }
    }
}

/// The work that has arrived since the last batch.
private struct StoreInbox {
    var works: [StoreWork] = []
    /// Whether the engine has been scheduled to take the work.
    var isScheduled = false
    /// The reason why the store accepts no work; nil while the store accepts work.
    var error: DurableError?
}
#endif

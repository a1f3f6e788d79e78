#if Durable
import Testing
import Waybill
@testable import WaybillDurable

/// Transactions of the engine, which these tests perform without an engine.
struct BatchTests {
    private let path = temporaryPath()

    /// Runs a closure with a new file that has the tables of a store.
    private func withDatabase(_ body: (Database) throws -> Void) throws {
        defer { removeStore(self.path) }
        let database = try Database(self.path, vfs: nil)
        try database.createTables()
        try body(database)
    }

    private func batch(
        _ database: Database,
        _ policies: DurablePolicies = DurablePolicies(),
        lanes: Lanes = Lanes(),
        sizeLimit: Int = .max
    ) -> Batch {
        var configuration = DurableStore.Configuration()
        configuration.sizeLimit = sizeLimit
        return Batch(
            database,
            settings: StoreSettings(configuration, policies: policies),
            state: StoreState(lanes: lanes, numbers: 1..<1),
            at: 1_000
        )
    }

    /// Returns the number of messages in a lane.
    private func count(in lane: String, of database: Database) throws -> Int? {
        try database.prepare("SELECT count(*) FROM waybill_messages WHERE lane = ?")
            .first([lane]) { $0.int(0) }
    }

    @Test func `a batch moves a part of the messages to the lane of a new policy, and begins none of them`()
        throws
    {
        try self.withDatabase { database in
            try database.run("BEGIN IMMEDIATE")
            let first = self.batch(database)
            let message = StoredMessage(url: "app://work", details: nil, lane: DurablePolicies.commonLane)
            for _ in 0..<2_500 { _ = try first.send(message) }
            first.state.lanes.hasBegun = true
            var policies = DurablePolicies()
            try policies.add(DurablePolicy(concurrency: 3), for: "app://**")
            var lanes = first.state.lanes
            // The page of 64 messages that reaches the limit of 1,000 messages is moved as a whole.
            for remaining in [1_476, 452] {
                let batch = self.batch(database, policies, lanes: lanes)
                try batch.beginDue()
                #expect(try self.count(in: DurablePolicies.commonLane, of: database) == remaining)
                #expect(batch.begun.allSatisfy { $0.lane != DurablePolicies.commonLane })
                // The next batch is due at once.
                #expect(batch.state.lanes.wakeTime.map { $0 <= 1_000 } == true)
                lanes = batch.state.lanes
            }
            let last = self.batch(database, policies, lanes: lanes)
            try last.beginDue()
            #expect(try self.count(in: DurablePolicies.commonLane, of: database) == 0)
            #expect(last.state.lanes.inFlight == 3)
            try database.run("COMMIT")
        }
    }

    @Test func `a recovery finds the lanes in which messages wait, also a lane whose name is not UTF-8`()
        throws
    {
        try self.withDatabase { database in
            try database.execute(
                "INSERT INTO waybill_messages (id, state, url, lane, due, sent, attempts) VALUES "
                    + "(1, 0, 'app://work', '', 'soon', 0, 0), (2, 0, 'app://work', 'policy:a', 5, 0, 0), "
                    + "(3, 0, 'app://work', 'policy:a', 3, 0, 0), (4, 2, 'app://work', 'policy:b', 1, 0, 0), "
                    + "(5, 0, 'app://work', CAST(x'FF' AS TEXT), 7, 0, 0)"
            )
            let batch = self.batch(database)
            try batch.recover()
            #expect(batch.state.lanes.wakeTime == 3)
            #expect(batch.state.lanes.due(at: 1_000) == ["policy:a", "\u{FFFD}"])
            // No policy has these lanes, so the messages that can be found move to the common lane.
            try batch.beginDue()
            #expect(batch.state.lanes.due(at: 1_000) == [DurablePolicies.commonLane])
        }
    }

    @Test func `a recovery in a store that is closing begins no attempts, and changes no message`() throws {
        try self.withDatabase { database in
            try database.execute(
                "INSERT INTO waybill_messages (id, state, url, lane, due, sent, attempts) "
                    + "VALUES (1000000, 1, 'app://work', '', 0, 0, 1)"
            )
            var lanes = Lanes()
            lanes.hasEnded = true
            let batch = self.batch(database, lanes: lanes)
            let changes = database.totalChanges
            try batch.recover()
            #expect(database.totalChanges == changes)
            _ = try batch.send(
                StoredMessage(url: "app://work", details: nil, lane: DurablePolicies.commonLane)
            )
            try batch.beginDue()
            #expect(batch.begun.isEmpty)
        }
    }

    @Test func `a time that is not a number wakes no engine, and the check reports it`() async throws {
        try self.withDatabase { database in
            try database.execute(
                "INSERT INTO waybill_messages (id, state, url, lane, due, sent, attempts) "
                    + "VALUES (1, 0, 'app://work', '', 'soon', 0, 0)"
            )
            try database.execute(
                "INSERT INTO waybill_schedules (name, url, rule, zone, misfire, next) "
                    + "VALUES ('daily', 'app://work', 'every 5 ms', '', 'once', 'later')"
            )
            #expect(try database.nextDue(of: "") == nil)
            var schedules = ScheduleTable()
            try schedules.readNext(database)
            #expect(schedules.next == nil)
            #expect(
                try database.problems() == [
                    "the message 1 has a time that is not a number",
                    "the schedule daily has a time that is not a number",
                ]
            )
        }
    }

    @Test func `a page of messages ends before the message that would exceed its size`() throws {
        try self.withDatabase { database in
            for (id, details) in [(1, "x"), (2, "x"), (3, "x"), (4, "\""), (5, "x")] {
                try database.execute(
                    "INSERT INTO waybill_dead (id, url, details, sent, died, attempts, code, failure) "
                        + "VALUES (?, 'app://work', printf('%.40000c', ?), 0, 0, 1, 'refused', '')",
                    [id, details]
                )
            }
            func page(after id: Int, size: Int) throws -> [Int] {
                var search = MessageSearch(previous: id, sizeLimit: size)
                try search.read(database)
                #expect(search.isOver)
                return search.records.map(\.id)
            }
            #expect(try page(after: 0, size: 100_000) == [1, 2])
            #expect(try page(after: 2, size: 100_000) == [3])
            // The quotation marks take two bytes each.
            #expect(try page(after: 3, size: 100_000) == [4])
            #expect(try page(after: 3, size: 10_000) == [4])
            #expect(try page(after: 4, size: 100_000) == [5])
        }
    }

    @Test func `a transaction that fills the file and fails does not make later sends fail`() throws {
        try self.withDatabase { database in
            try database.run("BEGIN IMMEDIATE")
            let batch = self.batch(database, sizeLimit: 1_000_000)
            let message = StoredMessage(url: "app://work", details: nil, lane: DurablePolicies.commonLane)
            #expect(throws: DurableError.self) {
                try batch.runProgram {
                    try database.execute("CREATE TABLE texts (text TEXT)")
                    try database.execute(
                        "INSERT INTO texts VALUES (?)",
                        [String(repeating: "x", count: 2_000_000)]
                    )
                    return try database.withStoreAccess { try batch.send(message) }
                }
            }
            #expect(throws: Never.self) { try batch.send(message) }
            try database.run("COMMIT")
        }
    }

    @Test func `a send whose key cannot be stored writes no message, even if the program catches the error`()
        throws
    {
        try self.withDatabase { database in
            try database.execute(
                "CREATE TRIGGER refusal BEFORE INSERT ON waybill_keys "
                    + "BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
            try database.run("BEGIN IMMEDIATE")
            var lanes = Lanes()
            lanes.hasBegun = true
            let batch = self.batch(database, lanes: lanes)
            var message = StoredMessage(url: "app://work", details: nil, lane: DurablePolicies.commonLane)
            message.key = "7"
            try batch.runProgram {
                database.withStoreAccess {
                    _ = #expect(throws: DurableError.self) { try batch.send(message) }
                }
            }
            #expect(try self.count(in: DurablePolicies.commonLane, of: database) == 0)
            #expect(batch.begun.isEmpty)
            #expect(batch.state.lanes.inFlight == 0)
            try database.run("COMMIT")
        }
    }

    @Test func `a search that finds few messages reads the file in steps`() throws {
        try self.withDatabase { database in
            let batch = self.batch(database)
            for _ in 0..<2_500 {
                _ = try batch.send(
                    StoredMessage(url: "app://work", details: nil, lane: DurablePolicies.commonLane)
                )
            }
            try database.execute("UPDATE waybill_messages SET state = 1 WHERE id = 1500")
            var search = MessageSearch(state: .underway)
            var steps: [[Int]] = []
            while !search.isOver {
                try search.read(database)
                steps.append([search.previous] + search.records.map(\.id))
            }
            #expect(steps == [[1_000], [2_000, 1_500], [2_500, 1_500]])
        }
    }

    @Test func `a statement that a library compiles after the limit of a transaction fails`() throws {
        try self.withDatabase { database in
            let error = #expect(throws: DurableError.self) {
                try database.withProgramAccess(limit: .zero) {
                    while !database.observer.isOverdue {}
                    _ = try database.prepare("SELECT 1")
                }
            }
            #expect(error?.code == .statementFailed)
            #expect(error?.message.contains("longer than its limit") == true)
            #expect(throws: Never.self) { try database.prepare("SELECT 1") }
        }
    }

    @Test func `a short statement that runs again and again is interrupted at the limit of a transaction`()
        throws
    {
        try self.withDatabase { database in
            let error = #expect(throws: DurableError.self) {
                try database.withProgramAccess(limit: .milliseconds(50)) {
                    let statement = try database.prepare("SELECT 1")
                    let start = ContinuousClock.now
                    while start.duration(to: .now) < .seconds(30) { try statement.run() }
                }
            }
            #expect(error?.code == .statementFailed)
        }
    }

    @Test func `lanes that are ready have the order of their names`() {
        let names = (0..<20).map { "lane \($0)" }.shuffled()
        var lanes = Lanes()
        lanes.hasBegun = true
        for name in names {
            lanes.setLimit(1, of: name)
            lanes.wait(in: name, until: 0)
        }
        #expect(lanes.due(at: 0) == names.sorted())
    }
}
#endif

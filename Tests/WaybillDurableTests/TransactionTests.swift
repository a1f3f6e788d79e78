#if Durable
import Logging
import Testing
import Waybill
import WaybillDurable
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@Suite struct TransactionTests {
    struct Refusal: Error, Equatable {}

    @Test func `rows and messages of a transaction are committed together`() async throws {
        try await withStore { store, bus in
            let seen = Journal<String>()
            try bus.register("app://mail") { seen.add($0.parameters["n"] ?? "") }
            try await bus.attach(store)
            let total = try await store.transaction { transaction in
                try transaction.execute("CREATE TABLE orders (id INTEGER, label TEXT, price REAL, data BLOB)")
                let changes = try transaction.execute(
                    "INSERT INTO orders VALUES (?, ?, ?, ?), (8, NULL, NULL, NULL)",
                    7,
                    "x\u{0}y",
                    1.5,
                    [1, 2] as [UInt8]
                )
                try transaction.send("app://mail?n=1", key: "1")
                return changes
            }
            #expect(total == 2)
            let rows = try await store.transaction { try $0.query("SELECT * FROM orders WHERE id = ?", 7) }
            #expect(rows.count == 1)
            #expect(rows[0]["label"]?.text == "x\u{0}y")
            #expect(rows[0]["price"]?.double == 1.5)
            #expect(rows[0]["data"]?.bytes == [1, 2])
            #expect(rows[0]["nothing"] == nil)
            await store.isIdle()
            #expect(seen.entries == ["1"])
        }
    }

    @Test func `an empty text and an array without bytes are not NULL in the file`() async throws {
        try await withStore { store, _ in
            let rows = try await store.transaction { transaction in
                try transaction.query("SELECT ? AS label, ? AS data", "", [] as [UInt8])
            }
            #expect(rows.map(\.values) == [[.text(""), .bytes([])]])
        }
    }

    @Test func `a transaction that throws has no effect, and concurrent transactions take effect`()
        async throws
    {
        try await withStore { store, bus in
            let seen = Journal<String>()
            try bus.register("app://mail/:n") { seen.add($0.parameters["n"] ?? "") }
            try await bus.attach(store)
            try await store.transaction { _ = try $0.execute("CREATE TABLE orders (id INTEGER)") }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        _ = try? await store.transaction { transaction in
                            try transaction.execute("INSERT INTO orders VALUES (?)", number)
                            try transaction.send("app://mail/\(number)", order: "\(number % 2)")
                            if number % 4 == 0 { throw Refusal() }
                        }
                    }
                }
            }
            await store.isIdle()
            let rows = try await store.transaction { try $0.query("SELECT id FROM orders ORDER BY id") }
            let expected = (0..<40).filter { $0 % 4 != 0 }
            #expect(rows.map { $0["id"]?.int } == expected)
            #expect(seen.entries.compactMap { Int($0) }.sorted() == expected)
        }
    }

    @Test func `the error of a transaction's closure reaches the caller of the transaction`() async throws {
        try await withStore { store, _ in
            await #expect(throws: Refusal()) { try await store.transaction { _ in throw Refusal() } }
        }
    }

    @Test(arguments: [
        "COMMIT", "ROLLBACK", "SAVEPOINT a", "PRAGMA synchronous = OFF", "ATTACH 'other.db' AS other",
        "DELETE FROM waybill_messages", "DROP TABLE waybill_keys", "CREATE INDEX i ON waybill_messages (url)",
        "UPDATE waybill_store SET value = 9", "INSERT INTO \"WAYBILL_dead\" SELECT * FROM waybill_dead",
        "SELECT 1; SELECT 2", "", "SELEKT 1", "SELECT ?",
    ])
    func `a statement that would damage the store is rejected`(sql: String) async throws {
        try await withStore { store, _ in
            let error = await #expect(throws: DurableError.self) {
                try await store.transaction { _ = try $0.execute(sql) }
            }
            #expect(error?.code == .invalidStatement)
            // The store continues to work.
            try await store.send("app://mail")
            #expect(try await store.statistics().waiting == 1)
        }
    }

    @Test func `a transaction reads the schema and creates a table for full-text search`() async throws {
        try await withStore { store, _ in
            try await store.transaction { transaction in
                try transaction.execute("CREATE VIRTUAL TABLE notes USING fts5(text)")
                try transaction.execute("INSERT INTO notes VALUES ('green tea')")
                try transaction.execute("PRAGMA user_version = 7")
            }
            try await store.transaction { transaction in
                #expect(try transaction.query("PRAGMA user_version")[0]["user_version"]?.int == 7)
                #expect(try transaction.query("PRAGMA table_info(notes)")[0]["name"]?.text == "text")
                let found = try transaction.query("SELECT text FROM notes WHERE notes MATCH 'tea'")
                #expect(found.count == 1)
            }
        }
    }

    @Test func `the closure can catch a constraint violation and continue its transaction`() async throws {
        try await withStore { store, _ in
            try await store.transaction { transaction in
                try transaction.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
                try transaction.execute("INSERT INTO orders VALUES (1)")
                #expect(throws: DurableError.self) {
                    try transaction.execute("INSERT INTO orders VALUES (1)")
                }
                try transaction.execute("INSERT INTO orders VALUES (2)")
            }
            let rows = try await store.transaction { try $0.query("SELECT count(*) AS count FROM orders") }
            #expect(rows[0]["count"]?.int == 2)
        }
    }

    @Test func `using a transaction after its closure has returned fails`() async throws {
        final class Keeper: @unchecked Sendable {
            var transaction: DurableTransaction?
        }
        try await withStore { store, _ in
            let keeper = Keeper()
            try await store.transaction { keeper.transaction = $0 }
            let error = #expect(throws: DurableError.self) { try keeper.transaction?.execute("SELECT 1") }
            #expect(error?.code == .transactionEnded)
        }
    }

    @Test func `another library can use the connection within the transaction`() async throws {
        try await withStore { store, _ in
            let isThere = try await store.transaction { transaction in
                try unsafe transaction.withUnsafeConnection { Int(bitPattern: $0) != 0 }
            }
            #expect(isThere)
        }
    }
}

@Suite struct CompletionTests {
    @Test func `a handler's writes, messages and completion are one commit`() async throws {
        try await withStore { store, bus in
            let seen = Journal<String>()
            try await store.transaction { _ = try $0.execute("CREATE TABLE labels (id INTEGER)") }
            try bus.register("app://ship/:n") { message in
                let number = try message.parameters.require("n", as: Int.self)
                try await message.complete { transaction in
                    try transaction.execute("INSERT INTO labels VALUES (?)", number)
                    try transaction.send("app://shipped/\(number)")
                }
                // The message is already completed, so this failure does not cause another attempt.
                throw OrderError.closed
            }
            try bus.register("app://shipped/:n") { seen.add($0.parameters["n"] ?? "") }
            try await bus.attach(store)
            try await store.send("app://ship/7")
            await store.isIdle()
            #expect(seen.entries == ["7"])
            let rows = try await store.transaction { try $0.query("SELECT id FROM labels") }
            #expect(rows.count == 1)
            #expect(try await store.messages(in: .dead).isEmpty)
        }
    }

    @Test func `a completion whose closure throws writes nothing, and the message is retried`()
        async throws
    {
        try await withStore(.init(attempts: 3)) { store, bus in
            try await store.transaction { _ = try $0.execute("CREATE TABLE labels (attempt INTEGER)") }
            try bus.register("app://ship") { message in
                let attempt = message.attempt
                try await message.complete { transaction in
                    try transaction.execute("INSERT INTO labels VALUES (?)", attempt)
                    if attempt != 3 { throw OrderError.closed }
                }
            }
            try await bus.attach(store)
            try await store.send("app://ship")
            await store.isIdle()
            let rows = try await store.transaction { try $0.query("SELECT attempt FROM labels") }
            #expect(rows.map { $0["attempt"]?.int } == [3])
        }
    }

    @Test func `a durable message can be completed only once`() async throws {
        try await withStore { store, bus in
            let codes = Journal<DurableError.Code?>()
            try bus.register("app://ship") { message in
                try await message.complete { _ in }
                let error = await #expect(throws: DurableError.self) { try await message.complete { _ in } }
                codes.add(error?.code)
            }
            try await bus.attach(store)
            try await store.send("app://ship")
            await store.isIdle()
            #expect(await eventually { codes.entries == [.attemptEnded] })
        }
    }

    @Test func `a handler whose timeout has passed cannot complete its message`() async throws {
        try await withStore(.init(attempts: 2, timeout: Scale.whileQuick / 2)) { store, bus in
            let codes = Journal<DurableError.Code?>()
            let gate = Gate()
            try await store.transaction { _ = try $0.execute("CREATE TABLE labels (attempt INTEGER)") }
            try bus.register("app://ship") { message in
                let attempt = message.attempt
                if attempt == 1 {
                    // Only the first attempt has a short timeout.
                    try store.setPolicy(DurablePolicy(attempts: 2), for: "app://ship")
                    await gate.wait()
                }
                do {
                    try await message.complete {
                        _ = try $0.execute("INSERT INTO labels VALUES (?)", attempt)
                    }
                } catch let error as DurableError {
                    codes.add(error.code)
                }
            }
            try await bus.attach(store)
            try await store.send("app://ship")
            await store.isIdle()
            gate.open()
            #expect(await eventually { codes.entries == [.attemptEnded] })
            let rows = try await store.transaction { try $0.query("SELECT attempt FROM labels") }
            #expect(rows.map { $0["attempt"]?.int } == [2])
        }
    }

    @Test func `the completion's result is sent to the return URL, instead of the reply's value`()
        async throws
    {
        try await withStore { store, bus in
            let seen = Journal<String>()
            try bus.register("app://order/pay") { message in
                try await message.complete { _ in "in the commit" }
                return "after the commit"
            }
            try bus.register("app://home/receipt") { seen.add(try $0.payload(as: String.self)) }
            try await bus.attach(store)
            try await store.send("app://order/pay#home/receipt")
            await store.isIdle()
            #expect(seen.entries == ["in the commit"])
        }
    }

    @Test func `a completion keeps the value that its handler has sent to the return URL`() async throws {
        try await withStore { store, bus in
            let seen = Journal<Int>()
            try bus.register("app://order/pay") { message in
                #expect(message.sendReturn(42))
                try await message.complete { _ in }
            }
            try bus.register("app://home/receipt") { seen.add(try $0.payload(as: Int.self)) }
            try await bus.attach(store)
            try await store.send("app://order/pay#home/receipt")
            await store.isIdle()
            #expect(seen.entries == [42])
        }
    }

    /// A result whose encoding sends another value to the return URL.
    private struct Interrupted: Encodable, Sendable {
        let message: Message

        func encode(to encoder: any Encoder) throws {
            _ = self.message.sendReturn(7)
            try "the completion".encode(to: encoder)
        }
    }

    @Test func `a value that is sent to the return URL during the commit of a completion is dropped`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        let log = Journal<String>()
        var configuration = DurableStore.Configuration()
        configuration.logger = Logger(label: "returns") { _ in JournalLogHandler(journal: log) }
        let store = try await DurableStore(path, configuration: configuration)
        let bus = MessageBus(configuration: .quiet)
        let seen = Journal<String>()
        try bus.register("app://order/pay") { message in
            try await message.complete { _ in Interrupted(message: message) }
        }
        try bus.register("app://home/receipt") { seen.add(try $0.payload(as: String.self)) }
        try await bus.attach(store)
        try await store.send("app://order/pay#app://home/receipt")
        await store.isIdle()
        #expect(seen.entries == ["the completion"])
        #expect(await eventually { log.entries.contains { $0.contains("is dropped") } })
        await store.close()
        await bus.shutDown()
    }

    @Test func `a message that was not delivered by a store cannot be completed`() async throws {
        try await withStore { _, bus in
            try bus.register("app://ship") { message in
                #expect(message.attempt == nil)
                try await message.complete { _ in }
            }
            let error = await failure { try await bus.route("app://ship") as Void }
            #expect((error?.cause as? DurableError)?.code == .notDurable)
        }
    }

    @Test func `a message that a durable handler routes is not durable`() async throws {
        try await withStore { store, bus in
            let attempts = Journal<Int?>()
            try bus.register("app://outer") { message in
                attempts.add(message.attempt)
                try await bus.route("app://inner") as Void
            }
            try bus.register("app://inner") { attempts.add($0.attempt) }
            try await bus.attach(store)
            try await store.send("app://outer")
            await store.isIdle()
            #expect(attempts.entries == [1, nil])
        }
    }
}
#endif

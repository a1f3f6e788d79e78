#if Durable
import Foundation
import Logging
import Testing
import Waybill
import WaybillDurable
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

/// Programs that use a store in ways that its documentation does not show.
@Suite struct HostileUseTests {
    @Test func `the write-ahead log is copied into the file, so that it stays small`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let store = try await DurableStore(path)
        let text = String(repeating: "x", count: 100_000)
        for _ in 0..<300 { try await store.send("app://work", parameters: ["text": text]) }
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: "\(path)-wal")[.size] as? Int
        )
        #expect(size < 10_000_000)
        await store.close()
    }

    @Test func `schedules that are declared before the bus is attached send their messages`() async throws {
        try await withStore { store, bus in
            let seen = Journal<Int>()
            try bus.register("app://reports") { _ in seen.add(1) }
            try await store.schedule("r", "app://reports", .every(.milliseconds(20)))
            try await bus.attach(store)
            #expect(await eventually { seen.count >= 2 })
        }
    }

    @Test(arguments: ["SELECT * FROM pragma_table_info('orders')", "SELECT * FROM pragma_user_version"])
    func `a transaction reads the schema and a setting as tables`(sql: String) async throws {
        try await withStore { store, _ in
            try await store.transaction { _ = try $0.execute("CREATE TABLE orders (id INTEGER)") }
            #expect(try await store.transaction { try $0.query(sql).count } == 1)
            try await store.send("app://mail")
        }
    }

    @Test func `an error that a program throws from a transaction does not stop the store`() async throws {
        try await withStore { store, _ in
            let error = await #expect(throws: DurableError.self) {
                try await store.transaction { _ in throw DurableError(.inputOutput, message: "another file") }
            }
            #expect(error?.code == .inputOutput)
            try await store.send("app://mail")
        }
    }

    @Test func `a statement that rolls back the whole transaction fails only its own transaction`()
        async throws
    {
        try await withStore { store, bus in
            let seen = Journal<Int>()
            try bus.register("app://mail/:n") { seen.add(try $0.parameters.require("n")) }
            try await bus.attach(store)
            try await store.transaction {
                _ = try $0.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)")
                try $0.execute("INSERT INTO orders VALUES (0)")
            }
            let failures = Journal<Int>()
            await withTaskGroup(of: Void.self) { group in
                for number in 1...60 {
                    group.addTask {
                        do {
                            if number % 3 == 0 {
                                try await store.transaction {
                                    try $0.send("app://mail/\(number)")
                                    try $0.execute("INSERT INTO orders VALUES (0)")
                                }
                            } else if number % 3 == 1 {
                                try await store.transaction {
                                    try $0.execute("INSERT INTO orders VALUES (?)", number)
                                    try $0.send("app://mail/\(number)")
                                }
                            } else {
                                try await store.send("app://mail/\(number)")
                            }
                        } catch { failures.add(number) }
                    }
                }
            }
            await store.isIdle()
            #expect(failures.entries.sorted() == (1...20).map { $0 * 3 })
            #expect(seen.entries.sorted() == (1...60).filter { $0 % 3 != 0 })
            let rows = try await store.transaction { try $0.query("SELECT count(*) AS n FROM orders") }
            #expect(rows[0]["n"]?.int == 21)
        }
    }

    @Test func `transactions that roll back do not make the work before them run again and again`()
        async throws
    {
        try await withStore { store, _ in
            try await store.transaction {
                _ = try $0.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
                try $0.execute("INSERT INTO orders VALUES (0)")
            }
            let (held, gate, runs) = (Gate(), Gate(), Tally())
            async let holding: Void = store.transaction { _ in
                held.reach()
                gate.block()
            }
            await held.reached()
            // The store performs these transactions in one batch, because the first one holds it.
            async let failures = withTaskGroup(of: Int.self) { group in
                for number in 1...200 {
                    group.addTask {
                        do {
                            try await store.transaction {
                                runs.add()
                                try $0.execute(
                                    "INSERT OR ROLLBACK INTO orders VALUES (?)",
                                    number % 4 == 0 ? 0 : number
                                )
                            }
                            return 0
                        } catch {
                            return 1
                        }
                    }
                }
                return await group.reduce(0, +)
            }
            try await Task.sleep(for: .milliseconds(50))
            gate.open()
            try await holding
            #expect(await failures == 50)
            #expect(runs.count <= 600)
            let rows = try await store.transaction { try $0.query("SELECT count(*) AS n FROM orders") }
            #expect(rows[0]["n"]?.int == 151)
        }
    }

    @Test func `a path that begins like a URI names a file`() async throws {
        let path = "file:waybill-\(UUID()).db?mode=memory"
        defer { removeStore(path) }
        let store = try await DurableStore(path)
        try await store.send("app://mail")
        #expect(FileManager.default.fileExists(atPath: path))
        await store.close()
    }

    @Test func `a key is remembered at least until its message is due`() async throws {
        var configuration = DurableStore.Configuration()
        configuration.keyLifetime = .milliseconds(1)
        try await withStore(configuration: configuration) { store, _ in
            let first = try await store.send("app://mail", key: "late", after: .seconds(3600))
            try await store.send("app://mail", key: "longest", after: .seconds(Int64.max))
            try await Task.sleep(for: .milliseconds(10))
            let second = try await store.send("app://mail", key: "late")
            #expect(second == DurableReceipt(id: first.id, isDuplicate: true))
        }
    }

    @Test func `a retry of large dead letters lets other work have its turn`() async throws {
        try await withStore(DurablePolicy(attempts: 1)) { store, bus in
            let registration = try bus.register("app://mail") { _ in throw CancellationError() }
            try await bus.attach(store)
            let text = String(repeating: "x", count: 5 << 20)
            for _ in 0..<3 { try await store.send("app://mail", parameters: ["text": text]) }
            await store.isIdle()
            registration.cancel()
            let seen = Journal<Int>()
            try bus.register("app://mail") { _ in seen.add(1) }
            let before = try await store.statistics()
            #expect(before.dead == 3)
            #expect(try await store.retry() == 3)
            #expect(try await store.statistics().commits >= before.commits + 3)
            await store.isIdle()
            #expect(seen.count == 3)
        }
    }

    @Test func `an attempt does not count if the shutdown of the bus has failed a message of its handler`()
        async throws
    {
        try await withStore(DurablePolicy(attempts: 2)) { store, bus in
            let began = Gate()
            try bus.register("app://mail") { [weak bus] message in
                guard let bus else { return }
                began.open()
                Task { await bus.shutDown(drainingFor: .seconds(3600)) }
                #expect(await eventually { !bus.isOpen })
                throw RoutingError(.shutDown, url: "app://inner", message: "the bus is shut down")
            }
            try await bus.attach(store)
            try await store.send("app://mail")
            await began.wait()
            #expect(await eventually { (try? await store.statistics().underway) == 0 })
            #expect(try await store.messages().map(\.attempts) == [0])
        }
    }

    @Test func `a closure that ignores a rolled back transaction writes nothing afterwards`() async throws {
        try await withStore { store, bus in
            let seen = Journal<Int>()
            try bus.register("app://mail") { _ in seen.add(1) }
            try await bus.attach(store)
            try await store.transaction {
                _ = try $0.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
                try $0.execute("INSERT INTO orders VALUES (0)")
            }
            let error = await #expect(throws: DurableError.self) {
                try await store.transaction {
                    _ = try? $0.execute("INSERT OR ROLLBACK INTO orders VALUES (0)")
                    _ = try? $0.execute("INSERT INTO orders VALUES (1)")
                    _ = try? $0.send("app://mail")
                }
            }
            #expect(error?.code == .statementFailed)
            let rows = try await store.transaction { try $0.query("SELECT id FROM orders") }
            #expect(rows.count == 1)
            await store.isIdle()
            #expect(try await store.messages().isEmpty && seen.count == 0)
        }
    }

    @Test func `messages of patterns that differ only in the form of a letter are attempted again`()
        async throws
    {
        try await withStore { store, bus in
            let seen = Journal<Int>()
            for pattern in ["app://caf\u{E9}/:n", "app://cafe\u{301}/:n"] {
                let backoff = Backoff(first: .milliseconds(1), longest: .milliseconds(1))
                try store.setPolicy(DurablePolicy(backoff: backoff), for: pattern)
                try bus.register(pattern) { message in
                    if message.attempt == 1 { throw RoutingError.refused("not yet") }
                    seen.add(try message.parameters.require("n"))
                }
            }
            try await bus.attach(store)
            try await store.send("app://caf\u{E9}/1")
            try await store.send("app://cafe\u{301}/2")
            #expect(await eventually { seen.count == 2 })
        }
    }

    @Test func `a closed store cannot be attached`() async throws {
        try await withStore { store, bus in
            await store.close()
            let error = await #expect(throws: DurableError.self) { try await bus.attach(store) }
            #expect(error?.code == .closed)
        }
    }

    @Test func `a rejected attachment does not change the policies`() async throws {
        try await withStore(.init(attempts: 1)) { store, bus in
            let backoff = Backoff(first: .milliseconds(1), longest: .milliseconds(1))
            try store.setPolicy(DurablePolicy(attempts: 2, backoff: backoff), for: "mail/**")
            try await bus.attach(store)
            var configuration = MessageBus.Configuration()
            configuration.defaultScheme = "other"
            let second = MessageBus(configuration: configuration)
            let error = await #expect(throws: DurableError.self) { try await second.attach(store) }
            #expect(error?.code == .alreadyAttached)
            // The pattern would have the scheme of the second bus, and the message only one attempt.
            try await store.send("app://mail/1")
            #expect(await eventually { (try? await store.messages(in: .dead).map(\.attempts)) == [2] })
            await second.shutDown()
        }
    }

    @Test func `a store that is closed directly after it was attached begins no attempts afterwards`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        for round in 0..<20 {
            let seen = Journal<Int>()
            let bus = MessageBus()
            try bus.register("app://work") { _ in seen.add(1) }
            let store = try await DurableStore(path)
            if round == 0 { for _ in 0..<100 { try await store.send("app://work") } }
            try await bus.attach(store)
            async let send = store.send("app://work")
            await store.close()
            let begun = seen.count
            _ = try? await send
            let again = try await DurableStore(path)
            #expect(try await again.statistics().underway == 0)
            await again.close()
            await bus.shutDown()
            #expect(seen.count == begun)
        }
    }

    @Test func `a module whose loop has stopped does not stop the delivery to other modules`() async throws {
        try await withStore(DurablePolicy(attempts: 2)) { store, bus in
            let loop = EventLoop(name: "module")
            let module = Probe(eventLoop: loop)
            try bus.register("app://stopped", on: module) { _, _ in }
            let seen = Journal<Int>()
            try bus.register("app://other") { _ in seen.add(1) }
            try await bus.attach(store)
            await loop.shutDown()
            try await store.send("app://stopped")
            #expect(await eventually { (try? await store.messages(in: .dead).map(\.attempts)) == [2] })
            try await store.send("app://other")
            #expect(await eventually { seen.entries == [1] })
        }
    }

    @Test func `a store full of expired keys accepts sends again`() async throws {
        var configuration = DurableStore.Configuration()
        configuration.sizeLimit = 400_000
        configuration.keyLifetime = .milliseconds(500)
        try await withStore(configuration: configuration) { store, bus in
            try bus.register("app://mail") { _ in }
            try await bus.attach(store)
            let key = String(repeating: "k", count: 2_000)
            var isFull = false
            for round in 0..<40 where !isFull {
                do {
                    try await store.transaction { transaction in
                        for n in 0..<20 { try transaction.send("app://mail", key: "\(key)\(round)-\(n)") }
                    }
                } catch let error as DurableError {
                    #expect(error.code == .sizeLimitReached)
                    isFull = true
                }
            }
            #expect(isFull)
            await store.isIdle()
            try await Task.sleep(for: .milliseconds(550))
            try await store.send("app://mail")
        }
    }

    @Test func `a path on which a write-ahead log is impossible is rejected`() async {
        let error = await #expect(throws: DurableError.self) { _ = try await DurableStore(":memory:") }
        #expect(error?.code == .unavailable)
        removeStore(":memory:")
    }

    @Test func `a program can use columns with the store's prefix, and can analyze its tables`() async throws
    {
        try await withStore { store, _ in
            try await store.transaction {
                try $0.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, waybill_number TEXT)")
                try $0.execute("INSERT INTO orders VALUES (1, 'a')")
                try $0.execute("UPDATE orders SET waybill_number = 'b' WHERE id = 1")
                try $0.execute("ANALYZE")
            }
            let rows = try await store.transaction { try $0.query("SELECT waybill_number FROM orders") }
            #expect(rows[0]["waybill_number"]?.text == "b")
        }
    }

    @Test func `a temporary table cannot take the name of a table of the store`() async throws {
        try await withStore { store, _ in
            let error = await #expect(throws: DurableError.self) {
                try await store.transaction {
                    try $0.execute("CREATE TEMP TABLE hidden (id INTEGER)")
                    try $0.execute("ALTER TABLE hidden RENAME TO waybill_messages")
                }
            }
            #expect(error?.code == .invalidStatement)
        }
    }

    @Test func `a restored backup gives its next message a different number for other processes`()
        async throws
    {
        let (path, backup) = (temporaryPath(), temporaryPath())
        defer { for path in [path, backup] { removeStore(path) } }
        await (try DurableStore(path)).close()
        try FileManager.default.copyItem(atPath: path, toPath: backup)
        let numbers = Journal<String?>()
        for path in [path, backup] {
            let bus = MessageBus()
            try bus.register("app://mail") { numbers.add($0.headers["waybill-durable"]) }
            let store = try await DurableStore(path)
            try await bus.attach(store)
            #expect(try await store.send("app://mail").id == 1)
            await store.isIdle()
            await store.close()
            await bus.shutDown()
        }
        #expect(numbers.count == 2)
        #expect(Set(numbers.entries).count == 2)
    }

    @Test func `an expired message does not count an attempt`() async throws {
        try await withStore { store, bus in
            try await store.send("app://offer", lifetime: .milliseconds(1))
            try await Task.sleep(for: .milliseconds(20))
            try await bus.attach(store)
            await store.isIdle()
            #expect(try await store.messages(in: .dead).map(\.attempts) == [0])
        }
    }

    @Test func `a statement that changes no rows returns the count 0`() async throws {
        try await withStore { store, _ in
            let counts = try await store.transaction { transaction in
                try transaction.execute("CREATE TABLE orders (id INTEGER)")
                return [
                    try transaction.execute("INSERT INTO orders VALUES (1), (2)"),
                    try transaction.execute("CREATE TABLE others (id INTEGER)"),
                    try transaction.execute("SELECT * FROM orders"),
                    try transaction.execute("UPDATE orders SET id = 3 WHERE id = 9"),
                ]
            }
            #expect(counts == [2, 0, 0, 0])
        }
    }

    @Test func `a policy and a send accept extreme values`() async throws {
        let extreme = Duration.seconds(Int64.max)
        try await withStore(.init(attempts: .max, concurrency: .max, timeout: extreme)) { store, bus in
            let seen = Journal<String>()
            try bus.register("app://work/:n") { seen.add($0.parameters["n"] ?? "") }
            try await bus.attach(store)
            try await store.send("app://work/1", key: "", lifetime: extreme)
            try await store.send("app://work/2", after: extreme, order: "")
            try await store.send("app://work/3", after: .seconds(Int64.min), order: "\u{0}e\u{301}")
            try await store.send("app://work/a\u{0}b")
            try await store.schedule("s", "app://work/4", .every(extreme))
            #expect(await eventually { seen.count == 3 })
            #expect(try await store.statistics().waiting == 1)
            await store.close(drainingFor: extreme)
        }
    }

    @Test func `a store whose file cannot be opened reports the same failure each time`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        try String(repeating: "not a database ", count: 1_000)
            .write(toFile: path, atomically: true, encoding: .utf8)
        for _ in 0..<20 {
            let error = await #expect(throws: DurableError.self) { _ = try await DurableStore(path) }
            #expect(error?.code == .notADatabase)
        }
    }

    @Test func `a process that exits while it opens or closes the file leaves a file that opens`()
        async throws
    {
        // At these moments the lock file contains "open", and the log is missing.
        let path = temporaryPath()
        defer { removeStore(path) }
        let store = try await DurableStore(path)
        #expect(try String(contentsOfFile: "\(path)-lock", encoding: .utf8).contains(" open "))
        #expect(FileManager.default.fileExists(atPath: "\(path)-wal"))
        await store.close()
    }

    @Test func `a query without an end is interrupted`() async throws {
        try await withStore { store, _ in
            let error = await #expect(throws: DurableError.self) {
                try await store.transaction {
                    _ = try $0.query(
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
                    )
                }
            }
            #expect(error?.code == .statementFailed)
            try await store.send("app://mail")
        }
    }

    @Test func `values that a store could not read again are rejected by the send`() async throws {
        try await withStore { store, bus in
            try bus.register("app://mail") { _ in }
            try await bus.attach(store)
            var nested: [String: any Sendable] = [:]
            for _ in 0..<70 { nested = ["next": nested] }
            let marks = "a" + String(repeating: "\u{301}", count: 31)
            for parameters: [String: any Sendable] in [["value": nested], ["text": marks]] {
                let error = await #expect(throws: RoutingError.self) {
                    try await store.send("app://mail", parameters: parameters)
                }
                #expect(error?.code == .notTransferable)
                #expect(error?.message.contains("limit of a store") == true)
            }
            #expect(try await store.statistics().waiting == 0)
        }
    }

    /// Statements that roll the whole transaction back, or that the store interrupts.
    @Test(arguments: [
        "INSERT OR ROLLBACK INTO orders VALUES (0)",
        "INSERT INTO orders WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    ])
    func `a completion that ignores a statement's failure neither completes nor loses the message`(
        sql: String
    ) async throws {
        var configuration = DurableStore.Configuration()
        configuration.transactionLimit = Scale.whileQuick / 4
        try await withStore(DurablePolicy(attempts: 2), configuration: configuration) { store, bus in
            try await store.transaction {
                _ = try $0.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
                try $0.execute("INSERT INTO orders VALUES (0)")
            }
            let attempts = Journal<Int>()
            try bus.register("app://ship") { message in
                attempts.add(message.attempt ?? 0)
                try await message.complete { _ = try? $0.execute(sql) }
            }
            try await bus.attach(store)
            try await store.send("app://ship")
            await store.isIdle()
            #expect(attempts.entries == [1, 2])
            #expect(try await store.messages(in: .dead).count == 1)
            #expect(try await store.transaction { try $0.query("SELECT * FROM orders").count } == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a transaction of many short statements fails at its limit and writes nothing`(
        catches: Bool
    )
        async throws
    {
        var configuration = DurableStore.Configuration()
        configuration.transactionLimit = Scale.whileQuick / 4
        try await withStore(configuration: configuration) { store, _ in
            try await store.transaction { transaction in
                try transaction.execute("CREATE TABLE orders (id INTEGER)")
            }
            let failures = Tally()
            let error = await #expect(throws: DurableError.self) {
                try await store.transaction { transaction in
                    let start = ContinuousClock.now
                    // A program that catches the failure executes some more statements.
                    while failures.count < 10, start.duration(to: .now) < .seconds(10) {
                        do {
                            try transaction.execute("INSERT INTO orders VALUES (1)")
                        } catch {
                            failures.add()
                            if !catches { throw error }
                        }
                    }
                }
            }
            #expect(error?.code == .statementFailed)
            #expect(error?.message.contains("longer than its limit") == true)
            #expect(failures.count > 0)
            #expect(try await store.transaction { try $0.query("SELECT * FROM orders").isEmpty })
        }
    }

    @Test func `a full table of a program fails only the transaction that writes to the table`() async throws
    {
        try await withStore { store, _ in
            try await store.transaction {
                _ = try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, x)")
                try $0.execute("INSERT INTO t VALUES (9223372036854775807, 1)")
            }
            let failures = Journal<String>()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        if number % 10 == 5 {
                            let insert = "INSERT INTO t (x) VALUES (1)"
                            _ = try? await store.transaction { try $0.execute(insert) }
                            return
                        }
                        do {
                            try await store.send("app://mail/\(number)")
                        } catch {
                            failures.add("\(error)")
                        }
                    }
                }
            }
            #expect(failures.entries.isEmpty)
            #expect(try await store.statistics().waiting == 45)
        }
    }

    @Test(arguments: ["SELECT 1; -- the number", "SELECT 1;;\n", "/* one */ SELECT 1 /* number */"])
    func `comments and semicolons around a statement are not further statements`(sql: String) async throws {
        try await withStore { store, _ in
            let count = try await store.transaction { try $0.query(sql).count }
            #expect(count == 1)
            for wrong in ["SELECT 1; SELECT 2", "CREATE TABLE a (x); SELECT * FROM a", "-- nothing", " ;"] {
                let error = await #expect(throws: DurableError.self) {
                    try await store.transaction { _ = try $0.query(wrong) }
                }
                #expect(error?.code == .invalidStatement)
            }
        }
    }
}
#endif

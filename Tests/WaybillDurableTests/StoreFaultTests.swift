#if Durable
import Foundation
import Logging
import Testing
import Waybill
import WaybillEventLoop
import WaybillSimulation
import WaybillTestSupport

@testable import WaybillDurable

/// Faults of a store's file.
///
/// Each has a typed error that names the remedy.
@Suite struct StoreFaultTests {
    private func failure(
        opening path: String,
        configuration: DurableStore.Configuration = .init()
    ) async -> DurableError? {
        do throws(DurableError) {
            _ = try await DurableStore(path, configuration: configuration)
            return nil
        } catch {
            return error
        }
    }

    /// Changes a file without a store.
    private func change(_ path: String, _ statements: String...) throws {
        let database = try Database(path, vfs: nil)
        for statement in statements { try database.execute(statement) }
    }

    @Test func `a file that is not a database is rejected, and not changed`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let text = String(repeating: "not a database ", count: 1_000)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let error = await self.failure(opening: path)
        #expect(error?.code == .notADatabase)
        #expect(error?.message.contains(path) == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test func `a store whose file is deleted stops, and a sender that learns of it can open another file`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        var configuration = DurableStore.Configuration()
        configuration.logger.logLevel = .critical
        let store = try await DurableStore(path, configuration: configuration)
        try await store.send("app://mail")
        removeStore(path)
        let error = await #expect(throws: DurableError.self) { try await store.send("app://mail") }
        #expect(error?.code == .inputOutput)
        #expect(error?.message.contains("was deleted or replaced") == true)
        let next = try await DurableStore(path)
        try await next.send("app://mail")
        #expect(try await next.statistics().waiting == 1)
        await next.close()
    }

    @Test func `a transaction that only creates a table counts as a commit, and notices a deleted file`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        var configuration = DurableStore.Configuration()
        configuration.logger.logLevel = .critical
        let store = try await DurableStore(path, configuration: configuration)
        try await store.transaction { _ = try $0.execute("CREATE TABLE orders (id INTEGER)") }
        #expect(try await store.statistics().commits == 1)
        removeStore(path)
        let error = await #expect(throws: DurableError.self) {
            try await store.transaction { _ = try $0.execute("CREATE TABLE labels (id INTEGER)") }
        }
        #expect(error?.code == .inputOutput)
    }

    @Test(arguments: [Int.min, -1, Int.max])
    func `a store opens a file with extreme numbers, and delivers its messages`(number: Int) async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let first = try await DurableStore(path)
        for url in ["app://mail?n=1", "app://mail?n=2", "app://dead"] { try await first.send(url) }
        try await first.schedule("tick", "app://tick", .every(.seconds(1)))
        await first.close()
        try self.change(
            path,
            "UPDATE waybill_messages SET sent = \(number), due = \(number), interruptions = \(number)",
            "UPDATE waybill_messages SET attempts = \(number), state = 1 WHERE id > 1",
            "UPDATE waybill_messages SET expires = \(number), lane = CAST(x'F8' AS TEXT) WHERE id = 3",
            "UPDATE waybill_messages SET details = '{\"answers\":\(number)}' WHERE id = 1",
            "UPDATE waybill_schedules SET next = \(number)",
            "UPDATE waybill_store SET value = \(number) WHERE name IN ('next', 'clock', 'id')"
        )
        let handled = Tally()
        let bus = MessageBus(configuration: .quiet)
        try bus.register("app://mail") { _ in handled.add() }
        try bus.register("app://tick") { _ in }
        var configuration = DurableStore.Configuration()
        configuration.logger.logLevel = .critical
        let second = try await DurableStore(path, configuration: configuration)
        try await bus.attach(second)
        _ = try await second.statistics()
        _ = try await second.schedules()
        _ = try await second.messages()
        // A clock that begins at the largest number cannot tell when a message is due.
        if number < .max {
            #expect(await eventually { handled.count > 0 })
        } else {
            #expect(await eventually { (try? await second.statistics().underway) == 0 })
            // The store waits for a time, and does not look for due messages again and again.
            let runs = second.engine.eventLoop.statistics.jobsRun
            try await Task.sleep(for: .milliseconds(50))
            #expect(second.engine.eventLoop.statistics.jobsRun < runs + 20)
        }
        await second.close()
        await bus.shutDown()
    }

    @Test func `a file whose tables are not those of a store is reported as damaged`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        try self.change(path, "CREATE TABLE waybill_store (number INTEGER)")
        let error = await self.failure(opening: path)
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("restore a backup") == true)
    }

    @Test func `another program's database gets the store's tables, and keeps its own`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let first = try await DurableStore(path)
        try await first.transaction { transaction in
            try transaction.execute("CREATE TABLE orders (id INTEGER)")
            try transaction.execute("INSERT INTO orders VALUES (7)")
        }
        await first.close()
        let second = try await DurableStore(path)
        let rows = try await second.transaction { try $0.query("SELECT id FROM orders") }
        #expect(rows.map { $0["id"]?.int } == [7])
        await second.close()
    }

    @Test func `the error of a second store of a file names the process that has the file open`() async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        let store = try await DurableStore(path)
        let error = await self.failure(opening: path)
        #expect(error?.code == .inUse)
        #expect(error?.message.contains("process \(ProcessInfo.processInfo.processIdentifier)") == true)
        await store.close()
        #expect(await self.failure(opening: path) == nil)
    }

    @Test func `a path with a zero byte is rejected, and creates no file`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let error = await #expect(throws: DurableError.self) { _ = try await DurableStore("\(path)\0.db") }
        #expect(error?.code == .unavailable)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `opening a store in a missing folder fails with unavailable`() async throws {
        let error = await self.failure(opening: "/nowhere/shop.db")
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("folder exists") == true)
    }

    #if os(Linux)
    @Test func `opening a store in a folder that cannot be written fails with readOnly`() async throws {
        // Even root cannot create a file in this folder.
        let error = await self.failure(opening: "/sys/shop.db")
        #expect(error?.code == .readOnly)
        #expect(error?.message.contains("folder exists and can be written") == true)
    }
    #endif

    @Test func `a write-ahead log that was cut after the process had ended is reported`() async throws {
        let (path, copy) = (temporaryPath(), temporaryPath())
        defer {
            removeStore(path)
            removeStore(copy)
        }
        let store = try await DurableStore(path)
        for number in 0..<20 { try await store.send("app://work/\(number)") }
        // The copies are the files that the process would have left if it had been killed now.
        for suffix in ["", "-wal", "-lock"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        await store.close()
        let log = try Data(contentsOf: URL(filePath: "\(copy)-wal"))
        for length in [0, 20, log.count / 2, log.count - 1] {
            try log.prefix(length).write(to: URL(filePath: "\(copy)-wal"))
            let error = await self.failure(opening: copy)
            #expect(error?.code == .corrupt, "\(length) of \(log.count) bytes")
            #expect(error?.message.contains("delete \(copy)-lock to continue") == true)
        }
        try log.write(to: URL(filePath: "\(copy)-wal"))
        let whole = try await DurableStore(copy)
        #expect(try await whole.messages().count == 20)
        await whole.close()
    }

    @Test func `a large transaction returns after its pages have been copied into the file`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let store = try await DurableStore(path)
        try await store.transaction { transaction in
            try transaction.execute("CREATE TABLE texts (text TEXT)")
            try transaction.execute("INSERT INTO texts VALUES (?)", String(repeating: "x", count: 8_000_000))
        }
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        #expect(size > 8_000_000)
        await store.close()
    }

    @Test func `the write-ahead log is shortened after a large transaction, and its length is checked`()
        async throws
    {
        let (path, copy) = (temporaryPath(), temporaryPath())
        defer { for path in [path, copy] { removeStore(path) } }
        let store = try await DurableStore(path)
        func size() throws -> Int {
            try FileManager.default.attributesOfItem(atPath: "\(path)-wal")[.size] as? Int ?? 0
        }
        try await store.transaction { transaction in
            try transaction.execute("CREATE TABLE texts (text TEXT)")
            try transaction.execute("INSERT INTO texts VALUES (?)", String(repeating: "x", count: 20_000_000))
        }
        #expect(try size() > 20_000_000)
        try await store.send("app://mail")
        #expect(try size() < 10_000_000)
        for suffix in ["", "-wal", "-lock"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        await store.close()
        // The copies are the files that the process would have left if it had been killed.
        let whole = try await DurableStore(copy)
        #expect(try await whole.messages().count == 1)
        await whole.close()
    }

    @Test func `an older program that cannot open a killed process's file does not damage the store`()
        async throws
    {
        let (path, copy) = (temporaryPath(), temporaryPath())
        defer {
            removeStore(path)
            removeStore(copy)
        }
        let store = try await DurableStore(path)
        try await store.send("app://work")
        try await store.engine.perform { batch in
            try batch.database.set("schema", to: Database.schema + 1)
        }
        for suffix in ["", "-wal", "-lock"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        await store.close()
        #expect(await self.failure(opening: copy)?.code == .newerSchema)
        // The database was closed, so SQLite has deleted the log, and the file contains all messages.
        #expect(!FileManager.default.fileExists(atPath: "\(copy)-wal"))
        try Database(copy, vfs: nil).set("schema", to: Database.schema)
        let whole = try await DurableStore(copy)
        #expect(try await whole.messages().count == 1)
        await whole.close()
    }

    @Test func `a killed process's messages keep their delays when the wall clock is set back`() async throws
    {
        let (path, copy) = (temporaryPath(), temporaryPath())
        defer {
            removeStore(path)
            removeStore(copy)
        }
        let first = try await DurableStore(path)
        try await first.send("app://work", after: .seconds(60))
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        await first.close()
        // The file then looks as if the message had been sent in an hour, by the wall clock.
        try Database(copy, vfs: nil)
            .execute("UPDATE waybill_messages SET sent = sent + 3600000, due = due + 3600000")
        let store = try await DurableStore(copy)
        let due = try await store.messages().first?.time ?? 0
        let now = try await store.engine.perform { $0.now }
        #expect(due - now <= 60_000)
        await store.close()
    }

    @Test func `a write-ahead log that is cut or damaged keeps the commits before that place`()
        async throws
    {
        let (path, copy) = (temporaryPath(), temporaryPath())
        defer {
            removeStore(path)
            removeStore(copy)
        }
        let count = 40
        let store = try await DurableStore(path)
        for number in 0..<count { try await store.send("app://work/\(number)") }
        let file = try Data(contentsOf: URL(filePath: path))
        let log = try Data(contentsOf: URL(filePath: "\(path)-wal"))
        await store.close()
        /// Opens a copy of the file with another log, and returns the URLs of the messages.
        func urls(with log: Data) async throws -> [String] {
            removeStore(copy)
            try file.write(to: URL(filePath: copy))
            try log.write(to: URL(filePath: "\(copy)-wal"))
            let store = try await DurableStore(copy)
            let problems = try await store.check()
            let urls = try await store.messages().map(\.url)
            // The store is whole, so it accepts messages.
            try await store.send("app://work/more")
            await store.close()
            #expect(problems == [])
            return urls
        }
        let all = (0..<count).map { "app://work/\($0)" }
        #expect(try await urls(with: log) == all)
        var lengths: Set<Int> = []
        // The first commits create the tables, so the places are in the second half of the log.
        for place in stride(from: log.count / 2, to: log.count, by: log.count / 23) {
            var damaged = log
            damaged[place] ^= 0xFF
            let kept = try await urls(with: log.prefix(place))
            #expect(kept == Array(all.prefix(kept.count)))
            #expect(try await urls(with: damaged) == kept)
            lengths.insert(kept.count)
        }
        #expect(lengths.count > 5)
    }

    @Test func `a missing write-ahead log after an unclean end is reported`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let store = try await DurableStore(path)
        try await store.send("app://mail")
        await store.close()
        try "1 open".write(toFile: "\(path)-lock", atomically: false, encoding: .utf8)
        let error = await self.failure(opening: path)
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("-wal is missing") == true)
        try FileManager.default.removeItem(atPath: "\(path)-lock")
        #expect(await self.failure(opening: path) == nil)
    }

    @Test func `a store that has reached its size limit rejects sends, and completes its messages`()
        async throws
    {
        var configuration = DurableStore.Configuration()
        configuration.sizeLimit = 400_000
        try await withStore(configuration: configuration) { store, bus in
            let seen = Journal<Int>()
            try bus.register("app://big") { _ in seen.add(1) }
            let text = String(repeating: "x", count: 10_000)
            var sent = 0
            var code: DurableError.Code?
            while code == nil, sent < 1_000 {
                do {
                    try await store.send("app://big", parameters: ["text": text])
                    sent += 1
                } catch let error as DurableError {
                    code = error.code
                }
            }
            #expect(code == .sizeLimitReached)
            try await bus.attach(store)
            await store.isIdle()
            #expect(seen.count == sent)
            try await store.send("app://big", parameters: ["text": text])
        }
    }

    @Test func `a handler can send messages in its completion although the store is full`() async throws {
        var configuration = DurableStore.Configuration()
        configuration.sizeLimit = 400_000
        try await withStore(DurablePolicy(attempts: 1), configuration: configuration) { store, bus in
            let seen = Journal<Int>()
            try bus.register("app://big") { message in
                try await message.complete { _ = try $0.send("app://follow") }
            }
            try bus.register("app://follow") { _ in seen.add(1) }
            let text = String(repeating: "x", count: 10_000)
            var sent = 0
            while (try? await store.send("app://big", parameters: ["text": text])) != nil { sent += 1 }
            let full = await failureCode { try await store.transaction { _ = try $0.send("app://follow") } }
            #expect(full == .sizeLimitReached)
            try await bus.attach(store)
            await store.isIdle()
            #expect(seen.count == sent)
            #expect(try await store.statistics().dead == 0)
        }
    }
}

/// Faults of a disk in memory.
@Suite struct DiskFaultTests {
    private let disk = FaultyDisk(seed: 1)
    private let log = Journal<String>()

    private func open() async throws -> DurableStore {
        var configuration = DurableStore.Configuration()
        configuration.vfs = self.disk.name
        configuration.logger = Logger(label: "faults") { [log] _ in JournalLogHandler(journal: log) }
        return try await DurableStore("faults.db", configuration: configuration)
    }

    @Test func `a full disk fails sends, and outcomes are written when there is space again`()
        async throws
    {
        let store = try await self.open()
        let bus = MessageBus()
        let gate = Gate()
        let seen = Journal<Int>()
        try bus.register("app://work") { _ in
            seen.add(1)
            await gate.wait()
        }
        try await bus.attach(store)
        try await store.send("app://work")
        await gate.reached()
        self.disk.limit(to: 1)
        let code = await failureCode {
            try await store.send("app://work", parameters: ["text": String(repeating: "x", count: 100_000)])
        }
        #expect(code == .diskFull)
        gate.open()
        #expect(await eventually { !self.log.entries.isEmpty })
        // The store tries again every 500 ms, and reports only its first failure.
        try await Task.sleep(for: .milliseconds(1_200))
        #expect(self.log.entries.count == 1)
        self.disk.limit(to: 0)
        #expect(await eventually { (try? await store.statistics().underway) == 0 })
        try await store.send("app://work")
        await store.isIdle()
        #expect(seen.count == 2)
        await store.close()
    }

    @Test func `a dead letter is logged once, after it has been written`() async throws {
        let store = try await self.open()
        try store.setPolicy(DurablePolicy(attempts: 1), for: "app://**")
        let bus = MessageBus(configuration: .quiet)
        let gate = Gate()
        try bus.register("app://work") { _ in
            await gate.wait()
            throw OrderError.closed
        }
        try await bus.attach(store)
        try await store.send("app://work")
        await gate.reached()
        self.disk.limit(to: 1)
        gate.open()
        #expect(await eventually { self.log.entries.contains { $0.contains("tries again") } })
        #expect(!self.log.entries.contains { $0.contains("dead letter") })
        self.disk.limit(to: 0)
        #expect(await eventually { (try? await store.statistics().dead) == 1 })
        #expect(self.log.entries.count { $0.contains("dead letter") } == 1)
        await store.close()
    }

    @Test func `a store that is closed while the disk is full writes the outcomes when there is space`()
        async throws
    {
        let store = try await self.open()
        let bus = MessageBus()
        let gate = Gate()
        try bus.register("app://work") { _ in await gate.wait() }
        try await bus.attach(store)
        try await store.send("app://work")
        await gate.reached()
        self.disk.limit(to: 1)
        gate.open()
        // The disk must refuse the outcome before the store is closed.
        #expect(await eventually { !self.log.entries.isEmpty })
        let start = ContinuousClock.now
        async let closed: Void = store.close(drainingFor: .seconds(60))
        try await Task.sleep(for: .milliseconds(50))
        self.disk.limit(to: 0)
        await closed
        #expect(start.duration(to: .now) < .seconds(30))
        let again = try await self.open()
        #expect(try await again.messages().isEmpty)
        await again.close()
    }

    @Test func `a store that is closed while the disk is full writes a late value for a return URL`()
        async throws
    {
        let store = try await self.open()
        let bus = MessageBus(configuration: .quiet)
        let kept = Journal<Message>()
        try bus.register("app://picker") { message in
            #expect(message.holdReturn())
            kept.add(message)
        }
        try await bus.attach(store)
        try await store.send("app://picker#app://home/picked")
        await store.isIdle()
        self.disk.limit(to: 1)
        #expect(try #require(kept.entries.first).sendReturn(7))
        // The disk must refuse the value before the store is closed.
        #expect(await eventually { self.log.entries.contains { $0.contains("tries again") } })
        async let closed: Void = store.close(drainingFor: .seconds(60))
        try await Task.sleep(for: .milliseconds(50))
        self.disk.limit(to: 0)
        await closed
        let again = try await self.open()
        #expect(try await again.messages().map(\.url) == ["app://home/picked"])
        await again.close()
        await bus.shutDown()
    }

    @Test func `a schedule that is dropped is logged once, after it has been deleted`() async throws {
        let store = try await self.open()
        try await store.schedule("nightly", "app://reports", .every(.seconds(3_600)))
        try await store.engine.perform { batch in
            try batch.database.execute("UPDATE waybill_schedules SET rule = 'never', next = 0")
            batch.schedulesChanged = true
        }
        let bus = MessageBus(configuration: .quiet)
        self.disk.limit(to: 1)
        try await bus.attach(store)
        #expect(await eventually { self.log.entries.contains { $0.contains("tries again") } })
        #expect(!self.log.entries.contains { $0.contains("is dropped") })
        self.disk.limit(to: 0)
        #expect(await eventually { (try? await store.schedules().isEmpty) == true })
        #expect(self.log.entries.count { $0.contains("is dropped") } == 1)
        await store.close()
        await bus.shutDown()
    }

    @Test func `a failed synchronization stops the store, and later sends fail`() async throws {
        let store = try await self.open()
        try await store.send("app://work")
        self.disk.failSynchronizations(true)
        #expect(await failureCode { try await store.send("app://work") } == .inputOutput)
        self.disk.failSynchronizations(false)
        #expect(await failureCode { try await store.send("app://work") } == .stopped)
        await store.close()
        let again = try await self.open()
        // The second message was not acknowledged, so the file may or may not contain it.
        #expect([1, 2].contains(try await again.statistics().waiting))
        await again.close()
    }

    @Test func `check finds an overwritten page, and the store that reads the page stops`()
        async throws
    {
        let store = try await self.open()
        for _ in 0..<200 {
            try await store.send("app://work", parameters: ["text": String(repeating: "x", count: 500)])
        }
        await store.close()
        let size = 4_096
        #expect(self.disk.overwrite("faults.db", from: size * 12, count: size * 8))
        let damaged = try await self.open()
        let problems = try? await damaged.check()
        #expect(problems?.isEmpty != true)
        // The read of the page has stopped the store, and a bus that is attached later learns the reason.
        let attaching = await #expect(throws: DurableError.self) { try await MessageBus().attach(damaged) }
        #expect(attaching?.code == .stopped)
        await damaged.close()
    }

    @Test func `a truncated log keeps the commits before the cut`() async throws {
        let store = try await self.open()
        for number in 0..<20 { try await store.send("app://work/\(number)") }
        self.disk.cutPower(afterOperations: 1)
        _ = await failureCode { try await store.send("app://work/20") }
        await store.close()
        self.disk.restorePower()
        let again = try await self.open()
        #expect(try await again.statistics().waiting >= 20)
        #expect(try await again.check() == [])
        await again.close()
    }
}
#endif

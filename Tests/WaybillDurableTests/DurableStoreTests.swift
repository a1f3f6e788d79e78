#if Durable
import Foundation
import Logging
import Testing
import Waybill
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable import WaybillDurable

@Suite struct DurableStoreTests {
    @Test func `a sent message is handled, and removed from the file`() async throws {
        try await withStore { store, bus in
            let seen = Journal<Int>()
            try bus.register("app://orders/:id") { message in seen.add(try message.parameters.require("id")) }
            try await bus.attach(store)
            for id in 1...100 { try await store.send("app://orders/\(id)") }
            await store.isIdle()
            #expect(seen.entries.sorted() == Array(1...100))
        }
    }

    @Test func `a durable message that was sent before the bus was attached is handled afterwards`()
        async throws
    {
        try await withStore { store, bus in
            let seen = Journal<String>()
            try bus.register("app://log") { seen.add($0.parameters["text"] ?? "") }
            try await store.send("app://log?text=early")
            try await bus.attach(store)
            await store.isIdle()
            #expect(seen.entries == ["early"])
        }
    }

    @Test func `a store cannot be attached to a bus that has shut down`() async throws {
        try await withStore { store, bus in
            await bus.shutDown()
            let error = await #expect(throws: RoutingError.self) { try await bus.attach(store) }
            #expect(error?.code == .shutDown)
            try await MessageBus().attach(store)
        }
    }

    @Test func `an attempt that is underway when the store is closed does not count`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let (begun, goOn) = (Gate(), Gate())
        let runs = Tally()
        for number in 1...3 {
            let bus = MessageBus(configuration: .quiet)
            try bus.register("app://job") { _ async in
                runs.add()
                if number == 1 { begun.open() }
                if number < 3 { await goOn.wait() }
            }
            let store = try await DurableStore(path)
            try store.setPolicy(DurablePolicy(attempts: 2), for: "app://job")
            if number == 1 { try await store.send("app://job") }
            try await bus.attach(store)
            #expect(await eventually { runs.count == number })
            if number == 3 { await store.isIdle() }
            #expect(try await store.statistics().dead == 0)
            await store.close(drainingFor: .zero)
            await bus.shutDown()
        }
        goOn.open()
    }

    @Test func `a message with a single attempt that a closed store interrupts becomes a dead letter`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        let goOn = Gate()
        let runs = Tally()
        for isFirst in [true, false] {
            let bus = MessageBus(configuration: .quiet)
            try bus.register("app://job") { _ async in
                runs.add()
                await goOn.wait()
            }
            var configuration = DurableStore.Configuration()
            configuration.logger.logLevel = .critical
            let store = try await DurableStore(path, configuration: configuration)
            try store.setPolicy(DurablePolicy(attempts: 1), for: "app://job")
            if isFirst { try await store.send("app://job") }
            try await bus.attach(store)
            if isFirst { await goOn.reached() } else { await store.isIdle() }
            #expect(try await store.statistics().dead == (isFirst ? 0 : 1))
            await store.close(drainingFor: .zero)
            if isFirst { goOn.open() }
            await bus.shutDown()
        }
        #expect(runs.count == 1)
    }

    @Test func `opening and closing a file without a bus keeps the record of an interrupted attempt`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        let first = try await DurableStore(path)
        try await first.send("app://job")
        await first.close()
        // The file then looks as if the process had been killed during the first attempt.
        try Database(path, vfs: nil).execute("UPDATE waybill_messages SET state = 1, attempts = 1")
        for _ in 0..<2 {
            let store = try await DurableStore(path)
            let message = try #require(try await store.messages().first)
            #expect(message.state == .underway && message.attempts == 1)
            await store.close()
        }
        let store = try await DurableStore(path)
        let attempts = Journal<Int?>()
        let bus = MessageBus(configuration: .quiet)
        try bus.register("app://job") { attempts.add($0.attempt) }
        try await bus.attach(store)
        await store.isIdle()
        #expect(attempts.entries == [2])
        await store.close()
        await bus.shutDown()
    }

    @Test func `a message is attempted again when a message of its handler fails for its parameters`()
        async throws
    {
        try await withStore(DurablePolicy(attempts: 3)) { store, bus in
            let runs = Tally()
            try bus.register("app://other") { message in try message.parameters.require("id", as: Int.self) }
            try bus.register("app://orders") { message async throws in
                runs.add()
                try await bus.route("app://other")
            }
            try await bus.attach(store)
            try await store.send("app://orders")
            await store.isIdle()
            #expect(runs.count == 3)
        }
    }

    @Test func `thousands of dead letters are dropped`() async throws {
        try await withStore(DurablePolicy(attempts: 1)) { store, bus in
            try await bus.attach(store)
            try await store.transaction { transaction in
                for number in 0..<2_500 { try transaction.send("app://nobody/\(number % 2)") }
            }
            await store.isIdle()
            #expect(try await store.drop(matching: "app://nobody/1") == 1_250)
            #expect(try await store.drop() == 1_250)
            #expect(try await store.statistics().dead == 0)
        }
    }

    @Test func `parameters and headers of a durable message reach the handler with their types`() async throws
    {
        struct Order: Codable, Sendable, Equatable {
            var id: Int
            var price: Double
        }
        try await withStore { store, bus in
            let seen = Journal<Order>()
            let headers = Journal<[String: String]>()
            try bus.register("app://orders") { message in
                seen.add(try message.argument("order"))
                headers.add(message.headers)
            }
            try await bus.attach(store)
            let order = Order(id: 7, price: 87.9)
            try await store.send("app://orders", parameters: ["order": order], headers: ["tenant": "oslo"])
            await store.isIdle()
            #expect(seen.entries == [order])
            #expect(headers.entries.map { $0["tenant"] } == ["oslo"])
        }
    }

    @Test func `a value that cannot be stored fails with notTransferable, and nothing is sent`() async throws
    {
        try await withStore { store, bus in
            let error = await #expect(throws: RoutingError.self) {
                try await store.send("app://orders", parameters: ["done": { @Sendable () -> Void in }])
            }
            #expect(error?.code == .notTransferable)
            #expect(error?.message.contains("the parameter done") == true)
            let statistics = try await store.statistics()
            #expect(statistics.waiting == 0)
        }
    }

    @Test func `sending to a text that is not a URL fails`() async throws {
        try await withStore { store, _ in
            let error = await #expect(throws: RoutingError.self) {
                try await store.send("app://" + String(repeating: "a", count: 1 << 20))
            }
            #expect(error?.code == .invalidURL)
        }
    }

    @Test func `a message whose handler throws is retried, and completes when the handler returns`()
        async throws
    {
        try await withStore(.init(attempts: 5)) { store, bus in
            let attempts = Journal<Int?>()
            try bus.register("app://mail") { message in
                attempts.add(message.attempt)
                if attempts.count < 3 { throw OrderError.closed }
            }
            try await bus.attach(store)
            try await store.send("app://mail")
            await store.isIdle()
            #expect(attempts.entries == [1, 2, 3])
            #expect(try await store.statistics().dead == 0)
        }
    }

    @Test func `a durable message is a dead letter after its last attempt, and can be retried`() async throws
    {
        try await withStore(.init(attempts: 2)) { store, bus in
            let attempts = Journal<Int?>()
            let works = Locked(false)
            try bus.register("app://mail/:id") { message in
                attempts.add(message.attempt)
                if !works.withLock({ $0 }) { throw OrderError.closed }
            }
            try await bus.attach(store)
            let receipt = try await store.send("app://mail/7")
            await store.isIdle()
            let letter = try #require(try await store.messages(in: .dead, matching: "app://mail/**").first)
            #expect(letter.id == receipt.id)
            #expect(letter.url == "app://mail/7")
            #expect(letter.attempts == 2)
            #expect(letter.code == "handlerFailed")
            #expect(try await store.messages(in: .dead, matching: "app://other/**").isEmpty)

            works.withLock { $0 = true }
            #expect(try await store.retry(matching: "app://mail/:id") == 1)
            await store.isIdle()
            #expect(attempts.entries == [1, 2, 1])
            #expect(try await store.statistics().dead == 0)
        }
    }

    @Test func `a dead letter in the store can be dropped`() async throws {
        try await withStore(.init(attempts: 1)) { store, bus in
            try await bus.attach(store)
            let receipt = try await store.send("app://nobody")
            await store.isIdle()
            #expect(try await store.messages(in: .dead).map(\.code) == ["noRoute"])
            #expect(try await store.drop(id: receipt.id + 1) == 0)
            #expect(try await store.drop(id: receipt.id) == 1)
            #expect(try await store.messages(in: .dead).isEmpty)
        }
    }

    @Test func `a dead letter for a wrong type names the parameter and both types`()
        async throws
    {
        struct OrderV1: Codable, Sendable { var id: Int }
        try await withStore { store, bus in
            try bus.register("app://orders") { message in
                let _: Int = try message.parameters.require("order")
            }
            try bus.register("app://invoice") { _ in OrderV1(id: 7) }
            try bus.register("app://receipts/take") { _ = try $0.payload(as: Int.self) }
            try await bus.attach(store)
            try await store.send("app://orders", parameters: ["order": OrderV1(id: 7)])
            try await store.send("app://invoice#app://receipts/take")
            await store.isIdle()
            let letters = try await store.messages(in: .dead)
            #expect(letters.map(\.attempts) == [1, 1])
            #expect(letters[0].failure?.contains("order") == true)
            for letter in letters {
                #expect(letter.failure?.contains("Int") == true)
                #expect(letter.failure?.contains("OrderV1") == true)
            }
        }
    }

    @Test func `sending with a key that was used has no effect`() async throws {
        try await withStore { store, bus in
            let seen = Journal<String>()
            try bus.register("app://mail") { seen.add($0.parameters["n"] ?? "") }
            try await bus.attach(store)
            let first = try await store.send("app://mail?n=1", key: "a")
            let second = try await store.send("app://mail?n=2", key: "a")
            let other = try await store.send("app://mail?n=3", key: "b")
            await store.isIdle()
            let late = try await store.send("app://mail?n=4", key: "a")
            await store.isIdle()
            #expect(!first.isDuplicate && !other.isDuplicate)
            #expect(
                second == DurableReceipt.duplicate(of: first) && late == DurableReceipt.duplicate(of: first)
            )
            #expect(seen.entries.sorted() == ["1", "3"])
        }
    }

    @Test func `a message key can be used again when its lifetime has passed`() async throws {
        var configuration = DurableStore.Configuration()
        configuration.keyLifetime = .milliseconds(5)
        try await withStore(configuration: configuration) { store, _ in
            try await store.send("app://mail", key: "a")
            try await Task.sleep(for: .milliseconds(20))
            #expect(try await store.send("app://mail", key: "a").isDuplicate == false)
        }
    }

    @Test func `messages of one order are handled one after the other, and other messages overtake them`()
        async throws
    {
        try await withStore { store, bus in
            let seen = Journal<String>()
            let failures = Locked(2)
            try bus.register("app://step/:name") { message -> Void in
                let name = try message.parameters.require("name", as: String.self)
                if name == "a1",
                    failures.withLock({
                        $0 -= 1
                        return $0 >= 0
                    })
                {
                    throw OrderError.closed
                }
                seen.add(name)
            }
            try await bus.attach(store)
            // With one commit, no attempt is repeated before all messages are sent.
            try await store.transaction { transaction in
                for name in ["a1", "a2", "a3"] { try transaction.send("app://step/\(name)", order: "a") }
                try transaction.send("app://step/b1", order: "b")
            }
            await store.isIdle()
            #expect(seen.entries.filter { $0.hasPrefix("a") } == ["a1", "a2", "a3"])
            #expect(seen.entries.first == "b1")
        }
    }

    @Test func `a message is handled although its predecessor is a dead letter`() async throws {
        try await withStore(.init(attempts: 1)) { store, bus in
            let seen = Journal<String>()
            try bus.register("app://step/2") { _ in seen.add("2") }
            try await bus.attach(store)
            try await store.send("app://step/1", order: "a")
            try await store.send("app://step/2", order: "a")
            await store.isIdle()
            #expect(seen.entries == ["2"])
            #expect(try await store.messages(in: .dead).count == 1)
        }
    }

    @Test func `a durable message with a delay is handled when the delay has passed, and not before`()
        async throws
    {
        try await withStore { store, bus in
            let seen = Journal<ContinuousClock.Instant>()
            try bus.register("app://remind") { _ in seen.add(.now) }
            try await bus.attach(store)
            let start = ContinuousClock.now
            try await store.send("app://remind", after: .milliseconds(60))
            await store.isIdle()
            let elapsed = start.duration(to: try #require(seen.entries.first))
            #expect(elapsed >= .milliseconds(59))
        }
    }

    @Test func `a durable message whose lifetime has passed is a dead letter`() async throws {
        try await withStore { store, bus in
            try bus.register("app://offer") { _ in Issue.record("an expired message was handled") }
            try await store.send("app://offer", lifetime: .milliseconds(1))
            try await Task.sleep(for: .milliseconds(20))
            try await bus.attach(store)
            await store.isIdle()
            #expect(try await store.messages(in: .dead).map(\.code) == ["deadlineExceeded"])
        }
    }

    @Test func `a handler that does not return is cancelled at its timeout, and called again`() async throws {
        try await withStore(.init(attempts: 2, timeout: Scale.whileQuick / 2)) { store, bus in
            let cancellations = Journal<Bool>()
            try bus.register("app://slow") { _ in
                try? await Task.sleep(for: .seconds(60))
                cancellations.add(Task.isCancelled)
            }
            try await bus.attach(store)
            try await store.send("app://slow")
            await store.isIdle()
            #expect(await eventually { cancellations.entries == [true, true] })
            #expect(try await store.messages(in: .dead).map(\.code) == ["deadlineExceeded"])
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a policy's concurrency limits the attempts that run at the same time`()
        async throws
    {
        try await withStore(.init(concurrency: 3)) { store, bus in
            let running = Locked((now: 0, most: 0))
            let gate = Gate()
            try bus.register("app://work") { _ in
                let isThird = running.withLock { counts in
                    counts = (counts.now + 1, max(counts.most, counts.now + 1))
                    return counts.now == 3
                }
                if isThird { gate.open() }
                await gate.wait()
                running.withLock { $0.now -= 1 }
            }
            for _ in 0..<30 { try await store.send("app://work") }
            try await bus.attach(store)
            await store.isIdle()
            #expect(running.withLock { $0.most } == 3)
        }
    }

    @Test func `a value that comes after the handler has returned is sent to the return URL once`()
        async throws
    {
        try await withStore { store, bus in
            let (kept, seen) = (Journal<Message>(), Journal<Int>())
            try bus.register("app://picker") { message in
                #expect(message.holdReturn())
                kept.add(message)
            }
            try bus.register("app://home/picked") { seen.add(try $0.payload(as: Int.self)) }
            try await bus.attach(store)
            try await store.send("app://picker#home/picked")
            await store.isIdle()
            #expect(try #require(kept.entries.first).sendReturn(7))
            #expect(await seen.comes(to: 7))
            await store.isIdle()
            #expect(try await store.messages().isEmpty)
            #expect(seen.entries == [7] && kept.count == 1)
        }
    }

    /// A value whose encoding ends when an attempt has ended.
    private struct LateValue: Encodable, Sendable {
        let attempt: DurableAttempt
        let isEncoding: Flag

        func encode(to encoder: any Encoder) throws {
            self.isEncoding.raise()
            while !self.attempt.hasEnded {}
            try 7.encode(to: encoder)
        }
    }

    @Test func `a value that comes when the handler returns is never on disk before the completion`()
        async throws
    {
        try await withStore(DurablePolicy(concurrency: 1)) { store, bus in
            // A value whose message still has an attempt underway is recorded in the table `early`.
            try await store.engine.perform { batch in
                try batch.database.execute("CREATE TABLE early (id INTEGER)")
                try batch.database.execute(
                    """
                    CREATE TRIGGER early_values AFTER INSERT ON waybill_messages WHEN EXISTS (
                        SELECT 1 FROM waybill_messages WHERE state = 1 AND id = new.details ->> 'answers')
                    BEGIN INSERT INTO early VALUES (new.id); END
                    """
                )
            }
            let seen = Tally()
            try bus.register("app://picker") { message in
                let attempt = try #require(message.source as? DurableAttempt)
                let (isEncoding, isSent) = (Flag(), Flag())
                #expect(message.holdReturn())
                // Threads that compete for the lock of the attempt delay its end, so a value could be first.
                for _ in 0..<2 {
                    Thread.detachNewThread { while !isSent.isRaised { _ = attempt.hasEnded } }
                }
                Thread.detachNewThread {
                    message.sendReturn(LateValue(attempt: attempt, isEncoding: isEncoding))
                    isSent.raise()
                }
                while !isEncoding.isRaised { await Task.yield() }
            }
            try bus.register("app://home/picked") { _ in seen.add() }
            try await bus.attach(store)
            let count = Scale.of(100)
            for _ in 0..<count { try await store.send("app://picker#app://home/picked") }
            #expect(await eventually { seen.count == count })
            await store.isIdle()
            let early = try await store.transaction { try $0.query("SELECT id FROM early").count }
            #expect(early == 0)
        }
    }

    @Test func `a value that comes after the handler has failed is dropped with a warning`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let log = Journal<String>()
        var configuration = DurableStore.Configuration()
        configuration.logger = Logger(label: "returns") { _ in JournalLogHandler(journal: log) }
        let store = try await DurableStore(path, configuration: configuration)
        try store.setPolicy(DurablePolicy(attempts: 1), for: "app://**")
        let bus = MessageBus(configuration: .quiet)
        let kept = Journal<Message>()
        try bus.register("app://picker") { message in
            #expect(message.holdReturn())
            kept.add(message)
            throw OrderError.closed
        }
        try bus.register("app://home/picked") { _ in Issue.record("the value was sent") }
        try await bus.attach(store)
        try await store.send("app://picker#home/picked")
        await store.isIdle()
        #expect(try #require(kept.entries.first).sendReturn(7))
        let warnings = log.entries.filter { $0.contains("is dropped") }
        #expect(warnings.count == 1 && warnings[0].contains("return=app://home/picked"))
        #expect(try await store.messages().map(\.state) == [.dead])
        await store.close()
        await bus.shutDown()
    }

    @Test func `an outcome that fails as a whole neither completes the message nor loses its value`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        let log = Journal<String>()
        var configuration = DurableStore.Configuration()
        configuration.logger = Logger(label: "outcomes") { _ in JournalLogHandler(journal: log) }
        let store = try await DurableStore(path, configuration: configuration)
        try await store.engine.perform { batch in
            try batch.database.execute(
                "CREATE TRIGGER refusal BEFORE INSERT ON waybill_messages WHEN NEW.url = 'app://home' "
                    + "BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
        }
        let bus = MessageBus(configuration: .quiet)
        try bus.register("app://order") { _ in 42 }
        try await bus.attach(store)
        try await store.send("app://order#app://home", order: "one")
        try await store.send("app://order", order: "one")
        #expect(await eventually { log.entries.contains { $0.contains("was not written") } })
        #expect(try await store.messages().map(\.state) == [.underway, .behind])
        await store.close()
        await bus.shutDown()
    }

    @Test func `the reply's value is sent to the return URL as a durable message`() async throws {
        try await withStore { store, bus in
            let seen = Journal<Int>()
            let ids = Journal<CorrelationID?>()
            try bus.register("app://order/pay") { _ in 42 }
            try bus.register("app://home/receipt") { message in
                ids.add(message.correlationID)
                if ids.count == 1 { throw OrderError.closed }
                seen.add(try message.payload(as: Int.self))
            }
            try await bus.attach(store)
            let receipt = try await store.send("app://order/pay#home/receipt")
            await store.isIdle()
            #expect(seen.entries == [42])
            #expect(ids.entries == Array(repeating: CorrelationID(rawValue: UInt64(receipt.id)), count: 2))
        }
    }

    @Test func `a reply's value that is too large for the file makes its message a dead letter`() async throws
    {
        try await withStore { store, bus in
            try bus.register("app://export/all") { _ in String(repeating: "x", count: 65 << 20) }
            try bus.register("app://home/receipt") { _ in Issue.record("the value was sent") }
            try await bus.attach(store)
            try await store.send("app://export/all#home/receipt")
            await store.isIdle()
            let dead = try #require(try await store.messages(in: .dead).first)
            #expect(dead.code == "notTransferable" && dead.url == "app://export/all#home/receipt")
            #expect(dead.failure?.contains("more than 67108864 bytes") == true)
        }
    }

    @Test func `a bus retains a store that nothing else refers to, and releases it when it ends`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        weak var released: DurableStore?
        do {
            let bus = MessageBus()
            let seen = Journal<Int>()
            try bus.register("app://late") { _ in seen.add(1) }
            do {
                let store = try await DurableStore(path)
                released = store
                try await store.send("app://late", after: .milliseconds(50))
                try await bus.attach(store)
            }
            #expect(await eventually { seen.entries == [1] })
            await bus.shutDown()
        }
        #expect(await eventually { released == nil })
    }

    @Test func `a bus releases a store that was closed when the next one is attached`() async throws {
        let paths = [temporaryPath(), temporaryPath()]
        defer { for path in paths { removeStore(path) } }
        let bus = MessageBus()
        weak var closed: DurableStore?
        do {
            let store = try await DurableStore(paths[0])
            closed = store
            try await bus.attach(store)
            await store.close()
        }
        let next = try await DurableStore(paths[1])
        try await bus.attach(next)
        #expect(await eventually { closed == nil })
        await next.close()
        await bus.shutDown()
    }

    @Test func `a message that waits when its store is closed is handled by the next store of the file`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        let first = try await DurableStore(path)
        try await first.send("app://late?n=1", parameters: ["n": 1])
        await first.close()
        await #expect(throws: DurableError.self) { try await first.send("app://late") }

        let seen = Journal<Int>()
        let bus = MessageBus()
        try bus.register("app://late") { seen.add(try $0.parameters.require("n")) }
        let second = try await DurableStore(path)
        try await bus.attach(second)
        await second.isIdle()
        await second.close()
        #expect(seen.entries == [1])
    }

    @Test
    func `middlewares write the sender's context into messages, also in transactions and completions`()
        async throws
    {
        try await withStore { store, bus in
            bus.use(SenderMiddleware())
            let seen = Journal<String>()
            try bus.register("app://first") { message in
                try await SenderMiddleware.$sender.withValue("handler") {
                    _ = try await message.complete { try $0.send("app://seen/complete") }
                }
            }
            try bus.register("app://seen/:n") { message in
                let sender = message.headers["sender"] ?? "nobody"
                seen.add("\(try message.parameters.require("n", as: String.self)): \(sender)")
            }
            try await bus.attach(store)
            try await SenderMiddleware.$sender.withValue("program") {
                try await store.send("app://seen/send")
                try await store.transaction { try $0.send("app://seen/transaction") }
                try await store.send("app://seen/own", headers: ["sender": "own"])
            }
            try await store.send("app://first")
            #expect(await eventually { seen.count == 4 })
            #expect(
                seen.entries.sorted() == [
                    "complete: handler", "own: own", "send: program", "transaction: program",
                ]
            )
        }
    }

    @Test func `a bus that shuts down returns its messages to the store, without counting an attempt`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        let gate = Gate()
        let first = MessageBus()
        try first.register("app://work") { _ in await gate.wait() }
        let store = try await DurableStore(path)
        try await first.attach(store)
        try await store.send("app://work")
        await gate.reached()
        await first.shutDown()
        gate.open()
        await store.close()

        let attempts = Journal<Int?>()
        let second = MessageBus()
        try second.register("app://work") { attempts.add($0.attempt) }
        let again = try await DurableStore(path)
        try await second.attach(again)
        await again.isIdle()
        await again.close()
        #expect(attempts.entries == [1])
    }

    @Test func `a message keeps its last failure when the bus shuts down during the next attempt`()
        async throws
    {
        try await withStore { store, bus in
            let gate = Gate()
            try bus.register("app://work") { message in
                if message.attempt == 1 { throw RoutingError.refused("the printer is busy") }
                await gate.wait()
            }
            try await bus.attach(store)
            try await store.send("app://work")
            await gate.reached()
            await bus.shutDown()
            gate.open()
            #expect(try await eventually { try await store.messages().first?.state == .waiting })
            #expect(try await store.messages().first?.failure?.contains("the printer is busy") == true)
        }
    }

    @Test func `a handler of an attempt that timed out cannot complete the message after a retry by hand`()
        async throws
    {
        try await withStore(DurablePolicy(attempts: 1, timeout: Scale.whileQuick / 2)) { store, bus in
            let (stale, fresh) = (Gate(), Gate())
            let calls = Tally()
            let outcomes = Journal<String>()
            try bus.register("app://ship") { message in
                calls.add()
                let call = calls.count
                await (call == 1 ? stale : fresh).wait()
                do {
                    try await message.complete { _ in }
                    outcomes.add("\(call) completed")
                } catch let error as DurableError {
                    outcomes.add("\(call) \(error.code)")
                }
            }
            try await bus.attach(store)
            try await store.send("app://ship")
            try #require(await eventually { stale.isReached })
            #expect(try await eventually { try await store.statistics().dead == 1 })
            try store.setPolicy(DurablePolicy(attempts: 1), for: "app://ship")
            try await store.retry()
            await fresh.reached()
            stale.open()
            #expect(await outcomes.comes(to: "1 attemptEnded"))
            fresh.open()
            await store.isIdle()
            #expect(await outcomes.comes(to: "2 completed"))
        }
    }

    @Test func `a message with a single attempt is not attempted again after the bus shut down`() async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        let effects = Journal<Int>()
        let gate = Gate()
        for process in 1...2 {
            let bus = MessageBus(configuration: .quiet)
            try bus.register("app://work") { _ in
                effects.add(process)
                await gate.wait()
            }
            let store = try await DurableStore(path)
            try store.setPolicy(DurablePolicy(attempts: 1), for: "app://**")
            try await bus.attach(store)
            if process == 1 {
                try await store.send("app://work")
                await gate.reached()
                await bus.shutDown()
                gate.open()
            }
            await store.isIdle()
            #expect(try await store.statistics().dead == 1)
            await store.close()
        }
        #expect(effects.entries == [1])
    }

    @Test func `the shutdown of a bus does not make dead letters of messages that wait for an attempt`()
        async throws
    {
        try await withStore(DurablePolicy(attempts: 1, concurrency: 1)) { store, bus in
            let gate = Gate()
            try bus.register("app://work/:n") { _ in await gate.wait() }
            try await bus.attach(store)
            for number in 0..<3 { try await store.send("app://work/\(number)") }
            await gate.reached()
            await bus.shutDown()
            gate.open()
            #expect(try await eventually { try await store.statistics().underway == 0 })
            #expect(try await store.statistics().dead == 1)
            #expect(try await store.statistics().waiting == 2)
        }
    }

    @Test func `messages that another program sends again respect the concurrency of their policy`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        var configuration = DurableStore.Configuration()
        configuration.logger.logLevel = .critical
        let running = Locked((now: 0, most: 0))
        // In the first process each message fails. `waybill store` then retries them, without a policy.
        for isFirst in [true, false] {
            let bus = MessageBus(configuration: .quiet)
            try bus.register("app://work/:n") { _ in
                if isFirst { throw CancellationError() }
                running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                try await Task.sleep(for: .milliseconds(20))
                running.withLock { $0.now -= 1 }
            }
            let store = try await DurableStore(path, configuration: configuration)
            try store.setPolicy(DurablePolicy(attempts: 1, concurrency: 1), for: "app://**")
            try await bus.attach(store)
            if isFirst { for number in 0..<6 { try await store.send("app://work/\(number)") } }
            await store.isIdle()
            #expect(try await store.statistics().dead == (isFirst ? 6 : 0))
            await store.close()
            await bus.shutDown()
            guard isFirst else { continue }
            let tool = try await DurableStore(path, configuration: configuration)
            #expect(try await tool.retry() == 6)
            await tool.close()
        }
        #expect(running.withLock { $0.most } == 1)
    }

    @Test func `a policy that is set after the bus was attached limits messages of an earlier process`()
        async throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        let policy = DurablePolicy(concurrency: 1)
        let first = try await DurableStore(path)
        try first.setPolicy(policy, for: "app://**")
        try await first.send("app://work", after: .seconds(86_400))
        await first.close()
        let running = Locked((now: 0, most: 0))
        let bus = MessageBus(configuration: .quiet)
        try bus.register("app://work") { _ in
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            try await Task.sleep(for: .milliseconds(20))
            running.withLock { $0.now -= 1 }
        }
        let store = try await DurableStore(path)
        try await bus.attach(store)
        try store.setPolicy(policy, for: "app://**")
        for _ in 0..<4 { try await store.send("app://work") }
        #expect(
            await eventually {
                guard let statistics = try? await store.statistics() else { return false }
                return statistics.waiting == 1 && statistics.underway == 0
            }
        )
        #expect(running.withLock { $0.most } == 1)
        await store.close()
        await bus.shutDown()
    }
}

extension DurableReceipt {
    fileprivate static func duplicate(of receipt: DurableReceipt) -> DurableReceipt {
        DurableReceipt(id: receipt.id, isDuplicate: true)
    }
}

/// A middleware that writes a task-local value of the sender into the headers, as tracing does.
private struct SenderMiddleware: Middleware {
    @TaskLocal static var sender: String?

    func prepare(_ message: Message) -> Message {
        Self.sender.map { message.with(headers: ["sender": $0]) } ?? message
    }

    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        try await next(message)
    }
}
#endif

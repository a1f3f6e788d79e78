#if Durable
import Testing
import Waybill
@testable import WaybillDurable
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@Suite struct ScheduleTests {
    @Test func `a schedule sends its message repeatedly`() async throws {
        try await withStore { store, bus in
            let seen = Journal<String>()
            try bus.register("app://reports/:name") { message in
                seen.add((message.headers["waybill-schedule"] ?? "") + " " + (message.parameters["n"] ?? ""))
            }
            try await bus.attach(store)
            try await store.schedule(
                "r",
                "app://reports/hourly",
                .every(.milliseconds(5)),
                parameters: ["n": 7]
            )
            #expect(await eventually { seen.count >= 3 })
            #expect(Set(seen.entries) == ["r 7"])
            #expect(try await store.unschedule("r"))
            #expect(try await store.unschedule("r") == false)
            #expect(try await store.schedules().isEmpty)
        }
    }

    @Test func `a schedule that is declared before the bus is attached sends its message afterwards`()
        async throws
    {
        try await withStore { store, bus in
            let seen = Journal<Int>()
            try bus.register("app://reports") { _ in seen.add(1) }
            try await store.schedule("r", "app://reports", .every(.milliseconds(1)))
            try await bus.attach(store)
            #expect(await eventually { seen.count > 0 })
        }
    }

    @Test func `a schedule that is declared again keeps its next time, unless its rule has changed`()
        async throws
    {
        try await withStore { store, _ in
            func next() async throws -> Int? { try await store.schedules().first?.next }
            try await store.schedule("r", "app://reports/a", .every(.seconds(1_000)))
            let first = try await next()
            try await Task.sleep(for: .milliseconds(10))
            try await store.schedule("r", "app://reports/b", .every(.seconds(1_000)))
            #expect(try await next() == first)
            #expect(try await store.schedules().map(\.url) == ["app://reports/b"])
            try await store.schedule("r", "app://reports/b", .every(.seconds(500)))
            #expect(try await next() != first)
        }
    }

    @Test func `restarts within a period send one message for the period's time`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let seen = Tally()
        func restart() async throws {
            let store = try await DurableStore(path)
            let bus = MessageBus()
            try bus.register("app://reports") { _ in seen.add() }
            try await store.schedule("r", "app://reports", .every(.seconds(3_600)))
            try await bus.attach(store)
            await store.isIdle()
            await store.close()
            await bus.shutDown()
        }
        for _ in 0..<3 { try await restart() }
        #expect(seen.count == 0)
        // The file then looks as if the time of the schedule had come.
        try Database(path, vfs: nil).execute("UPDATE waybill_schedules SET next = next - 3600000")
        for _ in 0..<3 { try await restart() }
        #expect(seen.count == 1)
    }

    @Test(arguments: [(DurableMisfire.once, 1), (.skip, 1), (.each, 4)])
    func `recently missed times follow the schedule's policy`(misfire: DurableMisfire, count: Int) {
        let rule = DurableRule.every(.milliseconds(100))
        #expect(rule.missed(from: 1_000_100, to: 1_000_450, misfire: misfire) == (count, 1_000_500))
        #expect(rule.missed(from: 1_000_400, to: 1_000_400, misfire: misfire) == (1, 1_000_500))
    }

    @Test(arguments: try [DurableRule.cron("0 * * * *"), .every(.seconds(3_600))])
    func `long missed times are skipped, sent once, or sent up to a limit`(rule: DurableRule) {
        let hour = 3_600_000
        let now = 10_000 * hour + 1_800_000
        #expect(rule.missed(from: hour, to: now, misfire: .skip) == (0, 10_001 * hour))
        #expect(rule.missed(from: hour, to: now, misfire: .once) == (1, 10_001 * hour))
        #expect(rule.missed(from: hour, to: now, misfire: .each) == (1_000, 10_001 * hour))
        #expect(rule.missed(from: 9_998 * hour, to: now, misfire: .each) == (3, 10_001 * hour))
    }

    @Test(arguments: try [DurableRule.cron("* * * * *"), .every(.seconds(60))])
    func `the policy skip sends a message for the latest of many missed times if it was a moment ago`(
        rule: DurableRule
    ) {
        let minute = 60_000
        let result = rule.missed(from: minute, to: 10_000 * minute + 1_000, misfire: .skip)
        #expect(result == (1, 10_001 * minute))
    }

    @Test func `a schedule for a text that is not a URL is rejected`() async throws {
        try await withStore { store, _ in
            let error = await failure {
                try await store.schedule(
                    "r",
                    "app://" + String(repeating: "a", count: 1 << 20),
                    .every(.seconds(1))
                )
            }
            #expect(error?.code == .invalidURL)
        }
    }

    @Test func `a cron schedule follows the wall clock after the wall clock was set back`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        await (try await DurableStore(path)).close()
        // The wall clock was more than an hour ahead, and has been corrected.
        let time = (StoreClock.wallTime / 60_000 + 62) * 60_000
        do {
            let database = try Database(path, vfs: nil)
            try database.execute("UPDATE waybill_store SET value = \(time - 500) WHERE name = 'clock'")
        }
        let store = try await DurableStore(path)
        let bus = MessageBus(configuration: .quiet)
        let seen = Journal<String>()
        try bus.register("app://nightly") { _ in seen.add("nightly") }
        try bus.register("app://poll") { _ in seen.add("poll") }
        try await bus.attach(store)
        let minute = time / 60_000 % 1_440
        try await store.schedule("nightly", "app://nightly", .cron("\(minute % 60) \(minute / 60) * * *"))
        try await store.schedule("poll", "app://poll", .every(.milliseconds(900)))
        #expect(await seen.comes(to: "poll"))
        #expect(!seen.entries.contains("nightly"))
        #expect(try await store.schedules().first?.next == time)
        await store.close()
        await bus.shutDown()
    }

    @Test func `a schedule that is declared again does not wait for a year that a wrong clock has shown`()
        async throws
    {
        try await withStore { store, _ in
            let rule = try DurableRule.cron("0 * * * *")
            try await store.schedule("r", "app://reports", rule)
            try await store.engine.perform { batch in
                try batch.database.execute("UPDATE waybill_schedules SET next = 4070908800000")
            }
            try await store.schedule("r", "app://reports", rule)
            let next = try #require(try await store.schedules().first?.next)
            #expect(next <= StoreClock.wallTime + 3_600_000)
        }
    }

    @Test func `schedules do not send messages while the file has reached its size limit`() async throws {
        var configuration = DurableStore.Configuration()
        configuration.sizeLimit = 1_000_000
        try await withStore(DurablePolicy(attempts: 1), configuration: configuration) { store, bus in
            try await bus.attach(store)
            let text = String(repeating: "x", count: 10_000)
            for number in 0..<10 {
                try await store.schedule(
                    "s\(number)",
                    "app://missing",
                    .every(.milliseconds(2)),
                    parameters: ["text": text],
                    misfire: .each
                )
            }
            #expect(try await eventually { try await store.statistics().dead > 0 })
            try await Task.sleep(for: .milliseconds(200))
            // Without the limit, the schedules would send 10 MB in this time.
            #expect(try await store.statistics().size < 2_000_000)
            #expect(try await store.schedules().count == 10)
        }
    }
}
#endif

#if Durable
import Foundation
import Testing
import Waybill
import WaybillTestSupport

@testable import WaybillDurable

@Suite struct StoreClockTests {
    private static let hour = 3_600_000

    @Test func `a store's clock is the wall clock if the wall clock was not set back`() {
        var clock = StoreClock(notBefore: 0)
        let before = StoreClock.wallTime
        let now = clock.now()
        #expect((before...StoreClock.wallTime).contains(now))
    }

    @Test func `a store's clock continues with the monotonic clock when the wall clock is set back`() {
        let earliest = StoreClock.wallTime + Self.hour
        let before = ContinuousClock.now
        var clock = StoreClock(notBefore: earliest)
        let after = ContinuousClock.now
        var last = clock.now()
        #expect(last >= earliest)
        // Many calls within a millisecond must not lose parts of a millisecond.
        while after.duration(to: .now) < .milliseconds(50) {
            let now = clock.now()
            #expect(now >= last)
            last = now
        }
        let now = clock.now()
        let elapsed = Int(before.duration(to: .now) / .milliseconds(1))
        #expect(now >= earliest + 49)
        #expect(now <= earliest + elapsed + 1)
    }

    @Test func `delays pass in a file whose clock is an hour ahead of the wall clock`() async throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let first = try await DurableStore(path)
        try await first.send("app://work/waiting", after: .seconds(3_600))
        await first.close()
        // The file then looks as if the wall clock had been set back after the store was closed.
        try Self.setClock(of: path, to: StoreClock.wallTime + Self.hour)

        let store = try await DurableStore(path)
        let bus = MessageBus()
        let seen = Journal<String>()
        try bus.register("app://work/:name") { message in
            seen.add(try message.parameters.require("name", as: String.self))
        }
        try await bus.attach(store)
        let start = ContinuousClock.now
        try await store.send("app://work/delayed", after: .milliseconds(200))
        #expect(await eventually { seen.entries == ["waiting", "delayed"] })
        #expect(start.duration(to: .now) >= .milliseconds(200))
        await store.close()
        #expect(try Self.clock(of: path) >= StoreClock.wallTime + Self.hour - 60_000)
    }

    private static func setClock(of path: String, to time: Int) throws {
        try Database(path, vfs: nil).set("clock", to: time)
    }

    private static func clock(of path: String) throws -> Int {
        try #require(try Database(path, vfs: nil).value("clock"))
    }
}
#endif

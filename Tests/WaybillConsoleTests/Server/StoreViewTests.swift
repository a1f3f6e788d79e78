#if HTTP
import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillRouting
import WaybillTestSupport

#if Durable
import Foundation
import Logging
import WaybillDurable
#endif

@testable import WaybillConsole

/// The view of durable stores.
///
/// In most tests closures replace the routes of a store.
@Suite(.timeLimit(.minutes(1)))
struct StoreViewTests {
    private static let letters = """
        [{"id": 7, "url": "app://mail/7?password=hunter2", "state": "dead", "attempts": 10, "sent": 0, "time": 60000,
        "code": "handlerFailed", "failure": "handlerFailed app://mail/7: hunter2 is not known here",
        "details": "{\\"parameters\\":{\\"card\\":4242}}"}]
        """
    private static let schedules = """
        [{"name": "nightly", "url": "app://reports", "rule": "0 3 * * * UTC", "next": 90000}]
        """

    private let bus = MessageBus(configuration: .quiet)

    private func registerStore(retried: Journal<Int> = Journal()) throws {
        try self.bus.register("app://store/statistics") { _ in
            ["waiting": 3, "underway": 1, "dead": 1, "schedules": 1, "oldestAge": 90, "commits": 2]
        }
        try self.bus.register("app://store/messages") { message in
            let state: String = try message.argument("state")
            return try JSONText(validating: Array((state == "dead" ? Self.letters : "[]").utf8))
        }
        try self.bus.register("app://store/schedules") { _ in
            try JSONText(validating: Array(Self.schedules.utf8))
        }
        try self.bus.register("app://store/retry") { message in
            retried.add(try message.argument("id"))
            return 1
        }
    }

    @Test
    func `the console shows a store's figures, schedules, and dead letters without values`() async throws {
        try self.registerStore()
        try await ConsoleTestServer.run(self.bus, .quiet { $0.stores = ["app://store"] }) { server in
            let answer = try await server.get("api/stores")
            let store = try #require(answer.json?.member(named: "stores")?.elements?.first)
            #expect(store.member(named: "url")?.string == "app://store")
            #expect(store.member(named: "failure")?.isNull == true)
            let statistics = try #require(store.member(named: "statistics"))
            #expect(statistics.member(named: "waiting")?.int == 3)
            #expect(statistics.member(named: "oldestAge")?.int == 90)
            #expect(statistics.member(named: "attempts")?.isNull == true)
            let letter = try #require(store.member(named: "letters")?.elements?.first)
            #expect(letter.member(named: "id")?.int == 7 && letter.member(named: "attempts")?.int == 10)
            #expect(letter.member(named: "url")?.string == "app://mail/7?password=…")
            let failure = letter.member(named: "failure")
            #expect(failure?.member(named: "message")?.string == "the handler failed")
            let schedule = try #require(store.member(named: "schedules")?.elements?.first)
            #expect(schedule.member(named: "next")?.int == 90_000)
            #expect(!answer.text.contains("4242") && !answer.text.contains("hunter2"))
        }
    }

    @Test
    func `the failure of a dead letter is shown without hidden values where payloads are shown`() async throws
    {
        try self.registerStore()
        let configuration = WaybillConsole.Configuration.quiet { configuration in
            configuration.stores = ["app://store"]
            configuration.showsPayloads = true
        }
        try await ConsoleTestServer.run(self.bus, configuration) { server in
            let answer = try await server.get("api/stores")
            let store = try #require(answer.json?.member(named: "stores")?.elements?.first)
            let failure = store.member(named: "letters")?.elements?.first?.member(named: "failure")
            // The code and the URL of the message are not repeated.
            #expect(failure?.member(named: "code")?.string == "handlerFailed")
            #expect(failure?.member(named: "message")?.string == "… is not known here")
            #expect(!answer.text.contains("hunter2"))
        }
    }

    @Test
    func `the console shows dead letters of further pages, until a page is empty`() async throws {
        try self.bus.register("app://store/statistics") { _ in ["dead": 3] }
        try self.bus.register("app://store/schedules") { _ in [Int]() }
        try self.bus.register("app://store/messages") { message -> [[String: Int]] in
            let last: Int = try message.parameters.value("after") ?? 0
            return last < 3 ? [["id": last + 1]] : []
        }
        try await ConsoleTestServer.run(self.bus, .quiet { $0.stores = ["app://store"] }) { server in
            let answer = try await server.get("api/stores")
            let store = try #require(answer.json?.member(named: "stores")?.elements?.first)
            let ids = store.member(named: "letters")?.elements?.map { $0.member(named: "id")?.int }
            #expect(ids == [1, 2, 3])
        }
    }

    @Test
    func `the console retries a stored dead letter only if it allows actions`() async throws {
        let retried = Journal<Int>()
        try self.registerStore(retried: retried)
        let body = #"{"url":"app://store/retry","parameters":{"id":7}}"#
        try await ConsoleTestServer.run(self.bus, .quiet { $0.stores = ["app://store"] }) { server in
            let answer = try await server.post("api/call", body)
            #expect(answer.status == 403)
        }
        try await ConsoleTestServer.run(self.bus, .quiet { $0.allowsActions = true }) { server in
            let answer = try await server.post("api/call", body)
            #expect(answer.json?.member(named: "failure")?.isNull == true)
        }
        #expect(retried.entries == [7])
    }

    @Test
    func `pages that ask within a second share one reading of the stores`() async throws {
        let calls = Tally()
        try self.bus.register("app://store/statistics") { _ in
            calls.add()
            return ["dead": 0]
        }
        try await ConsoleTestServer.run(self.bus, .quiet { $0.stores = ["app://store"] }) { server in
            for _ in 0..<20 {
                let answer = try await server.get("api/stores")
                #expect(answer.status == 200)
            }
            #expect((1..<20).contains(calls.count))
        }
    }

    @Test
    func `a store whose routes are missing shows a failure, and no store shows an empty list`() async throws {
        try await ConsoleTestServer.run(self.bus, .quiet { $0.stores = ["app://store"] }) { server in
            let store = try await server.get("api/stores").json?.member(named: "stores")?.elements?.first
            #expect(store?.member(named: "failure")?.member(named: "code")?.string == "noRoute")
        }
        try await ConsoleTestServer.run(self.bus) { server in
            let answer = try await server.get("api/stores")
            #expect(answer.text == #"{"stores":[]}"#)
        }
    }

    #if Durable
    @Test
    func `the operations of a durable store return all that the console shows`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = DurableStore.Configuration()
        settings.logger.logLevel = .critical
        let store = try await DurableStore(folder.appending(path: "shop.db").path, configuration: settings)
        try store.setPolicy(DurablePolicy(attempts: 1), for: "app://**")
        try self.bus.register("app://mail") { _ in throw RoutingError.refused("closed") }
        try self.bus.registerOperations(of: store)
        try await self.bus.attach(store)
        try await store.schedule("nightly", "app://reports", .cron("0 3 * * *"))
        try await store.send("app://mail")
        try await store.send("app://mail", after: .seconds(3_600))
        while try await store.statistics().dead == 0 { try await Task.sleep(for: .milliseconds(1)) }
        try await ConsoleTestServer.run(self.bus, .quiet { $0.stores = ["app://store"] }) { server in
            let answer = try await server.get("api/stores")
            let view = try #require(answer.json?.member(named: "stores")?.elements?.first)
            #expect(view.member(named: "failure")?.isNull == true)
            let statistics = try #require(view.member(named: "statistics")?.members)
            #expect(statistics.filter { $0.value.int == nil }.map(\.name) == [])
            let letter = try #require(view.member(named: "letters")?.elements?.first)
            #expect(letter.member(named: "attempts")?.int == 1)
            #expect(letter.member(named: "died")?.int != nil)
            #expect(letter.member(named: "failure")?.member(named: "code")?.string == "refused")
            let schedule = try #require(view.member(named: "schedules")?.elements?.first)
            #expect(schedule.member(named: "rule")?.string == "0 3 * * * UTC")
            #expect(schedule.member(named: "next")?.int != nil)
        }
        await store.close()
    }
    #endif
}
#endif

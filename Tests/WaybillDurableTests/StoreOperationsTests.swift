#if Durable
import Foundation
import Testing
import Waybill
import WaybillDurable
import WaybillTestSupport

/// The routes by which a running program shows and repairs its store.
@Suite(.timeLimit(.minutes(1)))
struct StoreOperationsTests {
    @Test func `operations list, retry and drop dead letters by URL`() async throws {
        try await withStore(DurablePolicy(attempts: 2)) { store, bus in
            try bus.register("app://mail/:n") { _ in throw OrderError.closed }
            try bus.registerOperations(of: store)
            try await bus.attach(store)
            for number in 0..<3 { try await store.send("app://mail/\(number)") }
            await store.isIdle()
            let letters: [DurableRecord] = try await bus.route(
                "app://store/messages?state=dead&matching=app://mail/*&after=1&limit=1"
            )
            #expect(letters.map(\.id) == [2])
            #expect(letters.first?.attempts == 2)
            #expect(try await bus.route("app://store/drop?id=1", as: Int.self) == 1)
            #expect(try await bus.route("app://store/retry", as: Int.self) == 2)
            await store.isIdle()
            let statistics: DurableStatistics = try await bus.route("app://store/statistics")
            #expect(statistics.dead == 2)
        }
    }

    @Test func `the store's statistics count attempts, and commits that wrote something`() async throws {
        try await withStore(DurablePolicy(attempts: 3)) { store, bus in
            try bus.register("app://mail") { _ in throw OrderError.closed }
            #expect(try await store.statistics().commits == 0)
            try await bus.attach(store)
            try await store.send("app://mail")
            await store.isIdle()
            let first = try await store.statistics()
            #expect(first.attempts == 3)
            #expect(first.commits >= 4)
            #expect(first.commitTime > 0)
            #expect(try await store.statistics().commits == first.commits)
        }
    }

    @Test func `pages of messages with large values have at most 4 MiB as JSON, and miss no message`()
        async throws
    {
        try await withStore { store, bus in
            try bus.registerOperations(of: store)
            let texts = [("x", 3_000_000), ("x", 3_000_000), ("\"", 1_200_000), ("x", 1)]
            for (letter, count) in texts {
                let text = String(repeating: letter, count: count)
                try await store.send("app://mail", parameters: ["text": text])
            }
            var pages: [[DurableRecord]] = []
            while pages.last?.isEmpty != true, pages.count < 10 {
                let last = pages.last?.last?.id ?? 0
                let page = try await bus.route("app://store/messages?after=\(last)", as: [DurableRecord].self)
                #expect(try JSONEncoder().encode(page).count <= 4 << 20)
                pages.append(page)
            }
            #expect(pages.map { $0.map(\.id) } == [[1], [2], [3], [4], []])
            #expect(pages[1].first?.details?.utf8.count ?? 0 > 3_000_000)
            // The JSON of this message has more than 4 MiB, because its quotation marks are escaped twice.
            #expect(pages[2].first?.details?.hasPrefix(#"{"omitted":"2400"#) == true)
        }
    }

    @Test func `a message state that does not exist fails with invalidParameter`() async throws {
        try await withStore { store, bus in
            try bus.registerOperations(of: store)
            let error = await #expect(throws: RoutingError.self) {
                try await bus.route("app://store/messages?state=lost")
            }
            #expect(error?.code == .invalidParameter)
        }
    }

    @Test func `an operation on a closed store fails with refused and the reason`() async throws {
        try await withStore { store, bus in
            try bus.registerOperations(of: store)
            await store.close()
            let error = await #expect(throws: RoutingError.self) { try await bus.route("app://store/check") }
            #expect(error?.code == .refused)
            #expect(error?.message == "the store is closed: open the file again to use it")
        }
    }

    @Test func `no store operation is registered when one of them conflicts with a route`() async throws {
        try await withStore { store, bus in
            try bus.register("app://store/retry") { _ in }
            let error = #expect(throws: RoutingError.self) { try bus.registerOperations(of: store) }
            #expect(error?.code == .conflict)
            #expect(bus.routes.count == 1)
            #expect(try bus.registerOperations(of: store, at: "app://orders/store").count == 6)
        }
    }
}
#endif

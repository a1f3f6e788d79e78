#if Metrics && Durable
import Foundation
import Logging
import MetricsTestKit
import Testing
import Waybill
import WaybillDurable
import WaybillMetrics

@Suite(.timeLimit(.minutes(1)))
struct DurableStoreMetricsTests {
    private struct Closed: Error {}

    @Test func `the store's metrics have the backlog, the dead letters, the attempts and the commits`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = DurableStore.Configuration()
        configuration.logger.logLevel = .critical
        let store = try await DurableStore(
            folder.appending(path: "shop.db").path,
            configuration: configuration
        )
        try store.setPolicy(DurablePolicy(attempts: 1), for: "app://**")
        let bus = MessageBus()
        try bus.register("app://mail") { _ in throw Closed() }
        try await bus.attach(store)
        let metrics = TestMetrics()
        let recorded = DurableStoreMetrics(
            of: store,
            named: "shop",
            every: .milliseconds(1),
            factory: metrics
        )
        let task = Task { try await recorded.run() }
        try await store.send("app://mail")
        try await store.send("app://mail", after: .seconds(3_600))

        let dimensions = [("store", "shop")]
        while try metrics.expectMeter("waybill_store_dead", dimensions).lastValue != 1
            || metrics.expectMeter("waybill_store_oldest_age_seconds", dimensions).lastValue == 0
            || metrics.expectMeter("waybill_store_waiting", dimensions).lastValue != 1
        {
            try await Task.sleep(for: .milliseconds(1))
        }
        let commits = try await store.statistics().commits
        // A reading does not count its own commit, so the next reading contains the last commit.
        while try metrics.expectCounter("waybill_store_commits", dimensions).totalValue < commits {
            try await Task.sleep(for: .milliseconds(1))
        }
        await store.close()
        let error = await #expect(throws: DurableError.self) { try await task.value }
        #expect(error?.code == .closed)

        #expect(try metrics.expectMeter("waybill_store_waiting", dimensions).lastValue == 1)
        #expect(try metrics.expectMeter("waybill_store_underway", dimensions).lastValue == 0)
        #expect(try metrics.expectCounter("waybill_store_attempts", dimensions).totalValue == 1)
        #expect(try metrics.expectCounter("waybill_store_commits", dimensions).totalValue == commits)
        let durations = try metrics.expectTimer("waybill_store_commit_duration", dimensions).values
        #expect(!durations.isEmpty && durations.allSatisfy { $0 > 0 })
        await bus.shutDown()
    }
}
#endif

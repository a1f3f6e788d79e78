#if Durable
import Foundation
import Logging
import Waybill
import WaybillDurable

/// Runs a test with a store in a temporary folder and a bus, which is not attached yet.
///
/// The policy of all URLs of `app` has a short backoff.
func withStore(
    _ policy: DurablePolicy = DurablePolicy(),
    configuration: DurableStore.Configuration = DurableStore.Configuration(),
    _ body: (DurableStore, MessageBus) async throws -> Void
) async throws {
    let path = temporaryPath()
    defer { removeStore(path) }
    var configuration = configuration
    configuration.logger.logLevel = .critical
    let store = try await DurableStore(path, configuration: configuration)
    var policy = policy
    policy.backoff = Backoff(first: .milliseconds(5), longest: .milliseconds(20))
    try store.setPolicy(policy, for: "app://**")
    let bus = MessageBus()
    try await body(store, bus)
    await store.close()
    await bus.shutDown()
}

func temporaryPath() -> String {
    FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID()).db").path
}

func removeStore(_ path: String) {
    for suffix in ["", "-wal", "-lock", "-journal"] {
        try? FileManager.default.removeItem(atPath: path + suffix)
    }
}

/// Returns the code of the store's error that a closure throws; nil if it throws none.
func failureCode(_ body: () async throws -> Void) async -> DurableError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? DurableError)?.code
    }
}

extension DurableStore {
    /// Waits until no message waits or is being handled.
    func isIdle() async {
        while let statistics = try? await self.statistics(), statistics.waiting + statistics.underway > 0 {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
}
#endif

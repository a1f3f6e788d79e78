import Foundation
import Logging
import WaybillDurable

extension DurableStore.Configuration {
    /// A configuration that logs nothing.
    static var quiet: Self {
        var configuration = Self()
        configuration.logger = Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
        return configuration
    }
}

/// A folder for the files of stores.
///
/// The folder is beside the benchmarks, because `/tmp` may be in memory instead of on a disk.
final class StoreFolder: Sendable {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder(in: ".") }

    func path(_ name: String) -> String { self.folder.path(name) }

    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    /// Creates a store with a million messages for the next day and one for now, unless it exists.
    func fill() async throws {
        let path = self.path("million.db")
        let store = try await DurableStore(path, configuration: .quiet)
        if try await store.messages(limit: 1).isEmpty {
            for _ in 0..<100 {
                try await store.transaction { transaction in
                    for _ in 0..<10_000 { try transaction.send("app://later", after: .seconds(86_400)) }
                }
            }
        }
        try await store.send("app://first")
        await store.close()
    }
}

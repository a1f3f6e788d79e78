#if Tool && Durable
import ArgumentParser
import Foundation
import Testing
import Waybill
import WaybillDurable
import WaybillServe

@testable import WaybillTool

/// The store of a process that serves its bus at a Unix socket.
@Suite(.timeLimit(.minutes(1)))
struct ServedStoreTests {
    /// Runs a closure with a store of a served bus, the store's file, and the arguments that connect to the
    /// bus.
    private func withServedStore(
        exposing patterns: [String] = ["app://store/**"],
        _ body: (DurableStore, _ file: String, ConnectionOptions) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "shop.db").path
        let store = try await DurableStore(file)
        try await withServedBus { bus, connection in
            try bus.registerOperations(of: store)
            for pattern in patterns { try bus.expose(pattern) }
            try await body(store, file, connection)
        }
        await store.close()
    }

    /// Calls a closure with the operations of a served store.
    private func operate<Value>(
        _ connection: ConnectionOptions,
        _ body: (ServedStore) async throws -> Value
    ) async throws -> Value {
        let client = try connection.client()
        defer { client.close() }
        return try await body(ServedStore(client, at: "app://store"))
    }

    @Test func `each operation of a served store answers as the store itself does`() async throws {
        try await self.withServedStore { store, _, connection in
            for number in 0..<5 { try await store.send("app://mail/\(number)", after: .seconds(3600)) }
            try await store.schedule("nightly", "app://reports/nightly", .cron("0 3 * * *"))
            let (page, statistics, schedules, problems) = try await self.operate(connection) { served in
                (
                    try await served.messages(
                        in: .waiting,
                        matching: "app://mail/:n",
                        id: nil,
                        after: 2,
                        limit: 2
                    ),
                    try await served.statistics(), try await served.schedules(), try await served.check()
                )
            }
            #expect(page.map(\.id) == [3, 4])
            #expect(page.map(\.url) == ["app://mail/2", "app://mail/3"])
            #expect(page.allSatisfy { $0.state == .waiting })
            #expect(statistics.waiting == 5)
            #expect(schedules.map(\.name) == ["nightly"])
            #expect(problems == [])
        }
    }

    @Test func `a store's operation that is not exposed does not exist for the command`() async throws {
        try await self.withServedStore(exposing: ["app://store/statistics"]) { _, _, connection in
            let statistics = try await self.operate(connection) { try await $0.statistics() }
            #expect(statistics.dead == 0)
            let error = await #expect(throws: RPCRequestError.self) {
                try await self.operate(connection) { try await $0.drop(matching: nil, id: nil) }
            }
            #expect(error?.code == .noRoute)
        }
    }

    @Test func `an invalid pattern is rejected with its reason`() async throws {
        try await self.withServedStore { _, _, connection in
            let error = await #expect(throws: RPCRequestError.self) {
                try await self.operate(connection) {
                    try await $0.retry(matching: "app://a/<itn:id>", id: nil)
                }
            }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("`itn` is not a type") == true)
        }
    }

    @Test func `the store command works on a served store, and not on its open file`() async throws {
        try await self.withServedStore { store, file, connection in
            let socket = try #require(connection.connect?.argument)
            try await store.send("app://mail/7", after: .seconds(3600))
            for action in StoreCommand.Action.allCases {
                let arguments = ["--connect", socket, action.rawValue, "--id", "1"]
                let command = try StoreCommand.parse(arguments)
                let isForLetter = [.retry, .drop].contains(action)
                let error = await self.exitCode { try await command.run() }
                #expect(error == (isForLetter ? .failure : nil), "\(action)")
            }
            let command = try StoreCommand.parse([file, "stats"])
            #expect(await self.exitCode { try await command.run() } == .failure)
        }
    }

    @Test func `the messages of a served store with large values are several short pages`() async throws {
        try await self.withServedStore { store, _, connection in
            let text = String(repeating: "x", count: 200_000)
            for _ in 0..<30 {
                try await store.send("app://mail", parameters: ["text": text], after: .seconds(3600))
            }
            let pages = try await self.operate(connection) { served in
                var pages: [[Int]] = []
                repeat {
                    let page = try await served.messages(
                        in: nil,
                        matching: nil,
                        id: nil,
                        after: pages.last?.last ?? 0,
                        limit: 100
                    )
                    pages.append(page.map(\.id))
                } while pages.last != []
                return pages
            }
            #expect(pages.flatMap(\.self) == Array(1...30))
            // The last page is empty.
            #expect(pages.count > 2)
            let socket = try #require(connection.connect?.argument)
            let command = try StoreCommand.parse(["--connect", socket, "list"])
            #expect(await self.exitCode { try await command.run() } == nil)
        }
    }

    private func exitCode(_ body: () async throws -> Void) async -> ExitCode? {
        do {
            try await body()
            return nil
        } catch {
            return error as? ExitCode ?? ExitCode(-1)
        }
    }

    @Test(arguments: [
        ["--connect", "shop.sock"], ["--connect", "shop.sock", "shop.db", "list"], ["list"],
        ["--connect", "shop.sock", "mend"], ["--connect", "shop.sock", "show"],
    ])
    func `the store command needs exactly one store`(arguments: [String]) {
        #expect(throws: (any Error).self) { try StoreCommand.parse(arguments) }
    }

    @Test func `the store command changes no database that is not a store's`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data().write(to: URL(filePath: path))
        let command = try StoreCommand.parse([path, "list"])
        let error = await #expect(throws: FileError.self) { try await command.run() }
        #expect(error?.status == .invalid)
        #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path + "-lock"))
    }
}
#endif

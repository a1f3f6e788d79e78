#if Durable
import Foundation
import Testing

@testable import WaybillDurable

@Suite struct StoreLockTests {
    @Test func `a write-ahead log that SQLite has deleted after a failure is not reported as missing`() throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        try Data().write(to: URL(filePath: path))
        var lock: StoreLock? = try StoreLock(path)
        lock?.mark(isOpen: true)
        lock = nil
        lock = try StoreLock(path)
        #expect(lock != nil)
    }

    @Test func `a write-ahead log that SQLite has deleted after a failed attempt to open is not missing`()
        throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        for file in [path, "\(path)-wal"] { try Data().write(to: URL(filePath: file)) }
        var lock: StoreLock? = try StoreLock(path)
        lock?.mark(isOpen: true)
        lock = nil
        lock = try StoreLock(path)
        // The store cannot read the log, and SQLite deletes the log when it closes the file.
        try FileManager.default.removeItem(atPath: "\(path)-wal")
        lock = nil
        lock = try StoreLock(path)
        #expect(lock != nil)
    }

    @Test func `a write-ahead log that is deleted after the process has ended is reported as missing`() throws
    {
        let path = temporaryPath()
        defer { removeStore(path) }
        try Data().write(to: URL(filePath: path))
        try Data().write(to: URL(filePath: "\(path)-wal"))
        var lock: StoreLock? = try StoreLock(path)
        lock?.mark(isOpen: true)
        lock = nil
        try FileManager.default.removeItem(atPath: "\(path)-wal")
        for _ in 0..<2 {
            let error = #expect(throws: DurableError.self) { _ = try StoreLock(path) }
            #expect(error?.code == .corrupt)
        }
    }

    @Test func `a failed attempt to lock a store does not change the other process's lock`() throws {
        let path = temporaryPath()
        defer { removeStore(path) }
        let lock = try StoreLock(path)
        lock.mark(isOpen: true)
        let content = try String(contentsOfFile: "\(path)-lock", encoding: .utf8)
        let error = #expect(throws: DurableError.self) { _ = try StoreLock(path) }
        #expect(error?.code == .inUse)
        #expect(try String(contentsOfFile: "\(path)-lock", encoding: .utf8) == content)
        withExtendedLifetime(lock) {}
    }

    @Test(arguments: [true, false])
    func `a store that was opened through a symbolic link opens again after its process was killed`(
        exists: Bool
    ) async throws {
        let manager = FileManager.default
        let folder = manager.temporaryDirectory.appending(path: "waybill-\(UUID())").path
        let copy = folder + "-copy"
        defer { for path in [folder, copy] { try? manager.removeItem(atPath: path) } }
        try manager.createDirectory(atPath: folder + "/data", withIntermediateDirectories: true)
        try manager.createSymbolicLink(atPath: folder + "/shop.db", withDestinationPath: "data/shop.db")
        if exists { await (try await DurableStore(folder + "/data/shop.db")).close() }
        let store = try await DurableStore(folder + "/shop.db")
        try await store.send("app://mail")
        // The copy contains the files as a killed process leaves them.
        try manager.copyItem(atPath: folder, toPath: copy)
        await store.close()
        let again = try await DurableStore(copy + "/shop.db")
        #expect(try await again.statistics().waiting == 1)
        await again.close()
    }
}
#endif

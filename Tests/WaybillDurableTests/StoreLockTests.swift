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
        lock?.mark(.open)
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
        lock?.mark(.open)
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
        lock.mark(.open)
        let content = try String(contentsOfFile: "\(path)-lock", encoding: .utf8)
        let error = #expect(throws: DurableError.self) { _ = try StoreLock(path) }
        #expect(error?.code == .inUse)
        #expect(try String(contentsOfFile: "\(path)-lock", encoding: .utf8) == content)
        withExtendedLifetime(lock) {}
    }
}
#endif

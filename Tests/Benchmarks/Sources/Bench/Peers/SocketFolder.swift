import Foundation

/// A temporary folder for sockets, which is there as long as it is held.
final class SocketFolder: Sendable {
    private let folder = "/tmp/waybill-bench-\(ProcessInfo.processInfo.processIdentifier)"

    init() throws {
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    func path(_ name: String) -> String { "\(self.folder)/\(name)" }
}

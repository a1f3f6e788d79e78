import Foundation

/// A temporary folder for sockets, which is removed when the value is released.
final class SocketFolder: Sendable {
    private let folder = "/tmp/waybill-bench-\(UUID().uuidString.prefix(8))"

    init() throws {
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    func path(_ name: String) -> String { "\(self.folder)/\(name)" }
}

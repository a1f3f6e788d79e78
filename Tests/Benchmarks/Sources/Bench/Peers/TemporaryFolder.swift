import Foundation

/// A temporary folder, which is removed when the value is released.
final class TemporaryFolder: Sendable {
    private let path: String

    /// Creates a folder.
    ///
    /// - Parameter parent: The folder in which the new folder is created. The path of a socket must be short.
    /// - Throws: An error if the folder cannot be created.
    init(in parent: String = "/tmp") throws {
        self.path = "\(parent)/waybill-bench-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    func path(_ name: String) -> String { "\(self.path)/\(name)" }
}

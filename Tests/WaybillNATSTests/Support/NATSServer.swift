#if NATS
import Foundation
import WaybillTestSupport

/// A server of NATS on a port of loopback that it chooses, which ends with ``stop()``.
final class NATSServer: Sendable {
    struct NotStarted: Error {}

    let url: String
    private let process: Int32
    private let folder: String

    init(arguments: [String] = []) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-nats-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["nats-server", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder.path] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process.processIdentifier
        self.folder = folder.path
        var url: String?
        _ = await eventually {
            url = Self.url(in: folder)
            return url != nil || !process.isRunning
        }
        guard let url else { throw NotStarted() }
        self.url = url
    }

    private static func url(in folder: URL) -> String? {
        struct Ports: Decodable { let nats: [String] }
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files ?? [] where file.pathExtension == "ports" {
            guard let data = try? Data(contentsOf: file) else { continue }
            return (try? JSONDecoder().decode(Ports.self, from: data))?.nats.first
        }
        return nil
    }

    /// Has it stand still, as a machine without memory does.
    func halt() { kill(self.process, SIGSTOP) }

    func goOn() { kill(self.process, SIGCONT) }

    func stop() {
        kill(self.process, SIGKILL)
        try? FileManager.default.removeItem(atPath: self.folder)
    }
}
#endif

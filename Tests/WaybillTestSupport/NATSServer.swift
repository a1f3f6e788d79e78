#if NATS
internal import Foundation
internal import WaybillRouting

/// A server of NATS on a port of loopback that it chooses, which ends with ``stop()``.
package final class NATSServer: Sendable {
    /// There is no server on this machine, or it does not start.
    package struct NotStarted: Error {}

    /// Where it listens.
    package let url: String
    private let process: Int32
    private let folder: String

    /// Starts a server.
    package init(arguments: [String] = []) async throws {
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
    package func halt() { kill(self.process, SIGSTOP) }

    package func goOn() { kill(self.process, SIGCONT) }

    package func stop() {
        kill(self.process, SIGKILL)
        try? FileManager.default.removeItem(atPath: self.folder)
    }
}
#endif

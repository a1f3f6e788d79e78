#if NATS
internal import Foundation
package import WaybillEventLoop
internal import WaybillRouting
internal import WaybillTestSupport

/// A NATS server on a free port of loopback, which ends with ``stop()``.
package final class NATSServer: Sendable {
    /// The error when the server is not installed or does not start.
    package struct NotStarted: Error {}

    /// The URL of the server.
    package let url: String
    /// The URL for other servers of the cluster, if the server is in a cluster.
    package let clusterURL: String?
    private let arguments: [String]
    private let process: Locked<Int32>
    private let folder: URL

    /// Starts a server with a text in the format of a configuration file.
    package init(arguments: [String] = [], configuration: String = "") async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-nats-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "server.conf").path
        try Data(configuration.utf8).write(to: URL(filePath: file))
        let arguments = ["-c", file] + arguments
        let process = try Self.start(["-p", "-1", "--ports_file_dir", folder.path] + arguments)
        self.process = Locked(process.processIdentifier)
        self.folder = folder
        self.arguments = arguments
        var ports: Ports?
        _ = await eventually {
            ports = Self.ports(in: folder)
            return ports != nil || !process.isRunning
        }
        guard let ports, let url = ports.nats.first else { throw NotStarted() }
        self.url = url
        self.clusterURL = ports.cluster?.first
    }

    private static func start(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["nats-server", "-a", "127.0.0.1"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private struct Ports: Decodable {
        let nats: [String]
        let cluster: [String]?
    }

    private static func ports(in folder: URL) -> Ports? {
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files ?? [] where file.pathExtension == "ports" {
            guard let data = try? Data(contentsOf: file) else { continue }
            return try? JSONDecoder().decode(Ports.self, from: data)
        }
        return nil
    }

    /// Stops the server's process without ending it, like a machine without free memory.
    package func halt() { self.signal(SIGSTOP) }

    package func goOn() { self.signal(SIGCONT) }

    /// Kills the server's process, like a machine that fails.
    package func kill() { self.signal(SIGKILL) }

    /// Starts the server again, at the same port.
    package func restart() throws {
        let port = self.url.split(separator: ":").last.map(String.init) ?? ""
        let process = try Self.start(["-p", port] + self.arguments)
        self.process.withLock { $0 = process.processIdentifier }
    }

    /// Sends bytes as a client that is not a node, and waits until the server has processed them.
    package func send(_ text: String, on loop: EventLoop) async throws {
        let port = self.url.split(separator: ":").last.flatMap { Int($0) } ?? 0
        let connection = try await StreamConnection.connect(to: .tcp("127.0.0.1", port: port), on: loop)
        defer { connection.close() }
        let options = #"{"verbose":false,"headers":true}"#
        try await connection.write(Array("CONNECT \(options)\r\n\(text)PING\r\n".utf8))
        var answer = ""
        while !answer.contains("PONG"), let bytes = try await connection.read() {
            answer += String(decoding: bytes, as: UTF8.self)
        }
    }

    package func stop() {
        self.kill()
        try? FileManager.default.removeItem(at: self.folder)
    }

    private func signal(_ signal: Int32) { _ = Foundation.kill(self.process.withLock { $0 }, signal) }
}
#endif

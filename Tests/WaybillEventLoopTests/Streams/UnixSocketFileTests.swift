internal import Foundation
internal import Testing
import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct UnixSocketFileTests {
    private let loop = EventLoop(name: "unix")

    @Test
    func `only its owner can use a Unix socket, and closing the listener removes its file`() async throws {
        try await withFolder { folder in
            let path = folder + "/socket"
            let listener = try await StreamListener.bind(.unix(path), on: self.loop)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            listener.close()
            await self.loop.run {}
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test
    func `the socket file of a server that died is replaced`() async throws {
        try await withFolder { folder in
            let path = folder + "/socket"
            try self.leaveStaleFile(path)
            #expect(FileManager.default.fileExists(atPath: path))
            _ = try await StreamListener.bind(.unix(path), on: self.loop)
        }
    }

    @Test
    func `a second server at a Unix socket's path is rejected, and the first continues`() async throws {
        try await withFolder { folder in
            let address = StreamAddress.unix(folder + "/socket")
            let first = try await StreamListener.bind(address, on: self.loop)
            let error = await #expect(throws: StreamError.self) {
                try await StreamListener.bind(address, on: self.loop)
            }
            #expect(error?.code == .addressInUse)
            #expect(error?.message == "could not listen at \(address): another server listens at this path")
            _ = try await StreamConnection.connect(to: address, on: self.loop)
            first.close()
        }
    }

    @Test
    func `a file that is not a socket is not replaced`() async throws {
        try await withFolder { folder in
            let path = folder + "/socket"
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
            #expect(
                await failure { _ = try await StreamListener.bind(.unix(path), on: self.loop) }
                    == .addressInUse
            )
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        }
    }

    @Test
    func `only one of many servers that start at a stale socket file at once succeeds`() async throws {
        try await withFolder { folder in
            let path = folder + "/socket"
            for _ in 0..<20 {
                try self.leaveStaleFile(path)
                let listeners = await withTaskGroup(of: StreamListener?.self) { group in
                    for _ in 0..<8 {
                        group.addTask { try? await StreamListener.bind(.unix(path), on: self.loop) }
                    }
                    return await group.reduce(into: [StreamListener]()) { $0 += $1.map { [$0] } ?? [] }
                }
                #expect(listeners.count == 1)
                _ = try await StreamConnection.connect(to: .unix(path), on: self.loop)
                for listener in listeners { listener.close() }
                await self.loop.run {}
            }
        }
    }

    @Test
    func `a server that is cancelled while another server binds leaves that server's file`() async throws {
        try await withFolder { folder in
            let path = folder + "/socket"
            // The file of a server that does not listen yet looks like a stale file.
            try self.leaveStaleFile(path)
            let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY)
            defer { StreamSocket.close(descriptor) }
            #expect(flock(descriptor, LOCK_EX) == 0)
            let server = Task { try await StreamListener.bind(.unix(path), on: self.loop) }
            try await Task.sleep(for: .milliseconds(5))
            server.cancel()
            #expect(await failure { _ = try await server.value } == .cancelled)
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(arguments: ["/tmp/waybill-no-folder/socket", "/proc/socket"])
    func `listening in a missing or read-only folder fails with invalidAddress`(path: String) async {
        let code = await failure { _ = try await StreamListener.bind(.unix(path), on: self.loop) }
        #expect(code == .invalidAddress)
    }

    @Test
    func `a second listener on a port fails with addressInUse`() async throws {
        let first = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: self.loop)
        let code = await failure { _ = try await StreamListener.bind(first.address, on: self.loop) }
        #expect(code == .addressInUse)
        first.close()
    }

    @Test
    func `listening at another machine's address fails with invalidAddress`() async {
        let code = await failure {
            _ = try await StreamListener.bind(.tcp("192.0.2.1", port: 0), on: self.loop)
        }
        #expect(code == .invalidAddress)
    }

    /// Listens at a path and closes the socket without removing its file, as the end of a process does.
    private func leaveStaleFile(_ path: String) throws {
        let descriptor = try StreamSocket.listen(at: SocketAddress(path: path), .unix(path), StreamOptions())
        StreamSocket.close(descriptor)
    }
}

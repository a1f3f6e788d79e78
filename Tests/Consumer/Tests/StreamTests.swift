import Foundation
import Testing
import WaybillEventLoop

/// Every public call of the streams, without a bus.
struct StreamTests {
    private let loop = EventLoop(name: "streams")

    @Test func `a TCP connection can be written to, read from and closed`() async throws {
        var options = StreamOptions()
        options.backlog = 16
        options.highWaterMark = 1 << 12
        options.readBufferSize = 1 << 12
        options.idleTimeout = .seconds(60)
        options.connectTimeout = .seconds(60)
        options.closeTimeout = .seconds(60)
        options.keepAliveTime = .seconds(60)
        options.sendsSmallWritesAtOnce = false
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop, options: options)
        #expect(listener.eventLoop === loop && "\(listener.address)" == listener.address.description)
        let client = try await StreamConnection.connect(to: listener.address, on: loop, options: options)
        var connections = listener.connections.makeAsyncIterator()
        let server = try #require(try await connections.next())
        #expect(client.eventLoop === loop && client.peer == listener.address && client.peerUserID == nil)
        try await client.write([1, 2])
        try await client.write([[3], [4, 5]])
        try await client.finishWriting()
        var bytes = server.bytes.makeAsyncIterator()
        var read: [UInt8] = []
        while let part = try await bytes.next() { read += part }
        #expect(read == [1, 2, 3, 4, 5])
        #expect(try await bytes.next(isolation: #isolation) == nil)
        #expect(try await server.read() == nil)
        server.close()
        #expect(try await client.read() == nil)
        client.close()
        try await client.waitUntilClosed()
        #expect(client.isClosed)
        listener.close()
        #expect(try await connections.next(isolation: #isolation) == nil)
        await loop.shutDown()
    }

    @Test func `an echo server can listen at a Unix socket`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(
            path: "\(UUID().uuidString.prefix(8)).sock"
        )
        var options = StreamOptions()
        options.permissions = 0o600
        let listener = try await StreamListener.bind(.unix(path.path), on: loop, options: options)
        let server = Task {
            try await listener.serve { connection in
                #expect(connection.peerUserID == getuid())
                for try await bytes in connection.bytes { try await connection.write(bytes) }
            }
        }
        let client = try await StreamConnection.connect(to: listener.address, on: loop)
        try await client.write(Array("hello".utf8))
        #expect(try await client.read() == Array("hello".utf8))
        client.abort()
        listener.close()
        try await server.value
        await #expect(throws: StreamError.self) {
            try await StreamConnection.connect(to: .unix(path.path), on: loop)
        }
        await loop.shutDown()
    }

    @Test func `an error of a stream has a code, an address and advice`() {
        let address = StreamAddress.tcp("::1", port: 7)
        let error = StreamError(.refused, message: "nothing listens", address: address, systemError: -111)
        #expect(error.code == .refused && error.message == "nothing listens" && error.address == address)
        #expect(error.systemError == -111 && error.description.hasPrefix("refused: nothing listens"))
        let codes: Set<StreamError.Code> = [
            .accessDenied, .addressInUse, .alreadyWaiting, .cancelled, .closed, .hostNotFound, .idle,
            .invalidAddress, .outOfDescriptors, .refused, .reset, .shutDown, .system, .timedOut, .unreachable,
        ]
        #expect(codes.count == 15 && Set(codes.map(\.description)).count == 15)
        #expect(StreamError.Code.outOfDescriptors.advice != nil)
    }
}

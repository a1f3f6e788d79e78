internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

/// An orderly close while input is unread.
@Suite(.timeLimit(.minutes(1)))
struct ClosingTests {
    private static let kinds = [AddressKind.version4, .unix]
    private static let block = [UInt8](repeating: 7, count: 4 << 20)

    private var patient: StreamOptions {
        var options = StreamOptions()
        options.closeTimeout = .seconds(3600)
        return options
    }

    @Test(arguments: Self.kinds)
    func `a peer whose bytes are unread receives all bytes, and then the end`(kind: AddressKind) async throws
    {
        try await withPair(kind, options: self.patient) { client, server, _ in
            try await client.write([1])
            try await server.write(Self.block)
            server.close()
            #expect(try await client.all().count == Self.block.count)
            try await server.waitUntilClosed()
        }
    }

    @Test
    func `bytes that arrive during the close do not destroy bytes that were sent`() async throws {
        try await withPair(options: self.patient) { client, server, _ in
            try await server.write(Array(Self.block[..<(256 * 1024)]))
            server.close()
            // The client's system has accepted some of the bytes only, because the client has not read.
            for _ in 0..<3 { try await client.write([1]) }
            #expect(try await client.all().count == 256 * 1024)
            client.close()
            try await server.waitUntilClosed()
        }
    }

    @Test(arguments: Self.kinds)
    func `a peer that does not react to the end delays the close only until its system has the bytes`(
        kind: AddressKind
    ) async throws {
        try await withPair(kind, options: self.patient) { client, server, _ in
            try await client.write(Array(Self.block[..<1000]))
            try await server.write([1, 2, 3])
            server.close()
            try await server.waitUntilClosed()
            #expect(try await client.all() == [1, 2, 3])
        }
    }

    @Test
    func `a peer that sends for ever and reads nothing delays the close only until its timeout`() async throws
    {
        var options = StreamOptions()
        options.closeTimeout = .milliseconds(50)
        try await withPair(options: options) { client, server, _ in
            let writer = Task { while true { try await client.write(Self.block) } }
            try await server.write(Self.block)
            server.close()
            try await server.waitUntilClosed()
            #expect(await failure { try await writer.value } == .reset)
        }
    }

    @Test
    func `a lingering connection can be aborted, and ends when its loop shuts down`() async throws {
        for isAborted in [true, false] {
            try await withPair(options: self.patient) { _, server, loop in
                // The client reads nothing, so these bytes are not acknowledged.
                try await server.write(Array(Self.block[..<(256 * 1024)]))
                server.close()
                #expect(await loop.run { server.core.state.phase == .lingering })
                if isAborted { server.abort() } else { await loop.shutDown() }
                try await server.waitUntilClosed()
                #expect(await failure { try await server.write([1]) } == (isAborted ? .closed : .shutDown))
            }
        }
    }

    @Test
    func `a reset that a write finds first also ends reading with reset`() async throws {
        try await withPair { client, server, loop in
            await loop.run { client.core.handle?.resetOnClose() }
            client.abort()
            try await client.waitUntilClosed()
            #expect(await failure { try await server.write([1]) } == .reset)
            #expect(await failure { _ = try await server.read() } == .reset)
            #expect(server.isClosed)
        }
    }
}

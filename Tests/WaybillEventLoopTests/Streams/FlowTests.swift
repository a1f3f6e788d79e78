internal import Testing
import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.serialized, .timeLimit(.minutes(2)))
struct FlowTests {
    private static let block = [UInt8](repeating: 7, count: 1 << 20)
    private static let blocks = 64

    @Test(arguments: [AddressKind.version4, .unix])
    func `a writer waits while its peer does not read, and memory is bounded`(kind: AddressKind) async throws
    {
        try await withPair(kind) { client, server, loop in
            let written = Tally()
            let writer = Task {
                for _ in 0..<Self.blocks {
                    try await client.write(Self.block)
                    written.add()
                }
                try await client.finishWriting()
            }
            while await loop.run({ !client.core.state.isFull }) { await Task.yield() }
            // The writer waits when the system's buffers are full, and the count no longer changes.
            var seen = -1
            while seen != written.count {
                seen = written.count
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(seen < Self.blocks)
            let limit = client.core.options.highWaterMark + Self.block.count
            #expect(await loop.run { client.core.state.pendingBytes } <= limit)
            #expect(try await server.all().count == Self.blocks * Self.block.count)
            try await writer.value
        }
    }

    @Test
    func `a cancelled write resumes at once and leaves no bytes, and earlier writes are sent whole`()
        async throws
    {
        try await withPair { client, server, loop in
            let written = Tally()
            let filler = Task {
                while true {
                    try await client.write(Self.block)
                    written.add()
                }
            }
            while await loop.run({ client.core.writers.isEmpty }) { await Task.yield() }
            filler.cancel()
            #expect(await failure { try await filler.value } == .cancelled)
            let pending = await loop.run { client.core.state.pendingBytes }
            for _ in 0..<8 {
                let writer = Task { try await client.write([Self.block, Self.block]) }
                while await loop.run({ client.core.writers.isEmpty }) { await Task.yield() }
                writer.cancel()
                #expect(await failure { try await writer.value } == .cancelled)
            }
            #expect(await loop.run { client.core.state.pendingBytes } == pending)
            let reader = Task { try await server.all().count }
            try await client.finishWriting()
            #expect(try await reader.value == written.count * Self.block.count)
        }
    }

    @Test
    func `a write of a cancelled task sends nothing, on the loop and elsewhere`() async throws {
        try await withPair { client, server, loop in
            let writers = [
                Task(executorPreference: loop.taskExecutor) { try await Self.writeWhenCancelled(client) },
                Task { try await Self.writeWhenCancelled(client) },
            ]
            for writer in writers {
                writer.cancel()
                #expect(await failure { try await writer.value } == .cancelled)
            }
            try await client.finishWriting()
            #expect(try await server.all().isEmpty)
        }
    }

    private static func writeWhenCancelled(_ client: StreamConnection) async throws {
        while !Task.isCancelled { await Task.yield() }
        try await client.write([1])
    }

    @Test(arguments: [true, false])
    func `writes that wait are sent in the order of their calls, before the end`(isClosed: Bool) async throws
    {
        try await withPair { client, server, loop in
            let filler = Task { while true { try await client.write(Self.block) } }
            while await loop.run({ client.core.writers.isEmpty }) { await Task.yield() }
            filler.cancel()
            _ = await filler.result
            var writers: [Task<Void, any Error>] = []
            for index in 1...4 {
                writers.append(Task { try await client.write([[UInt8(index)], Self.block]) })
                while await loop.run({ client.core.writers.count < index }) { await Task.yield() }
            }
            if isClosed { client.close() }
            let late = Task { isClosed ? try await client.write([9]) : try await client.finishWriting() }
            let received = try await server.all()
            for writer in writers { try await writer.value }
            #expect(await failure { try await late.value } == (isClosed ? .closed : nil))
            let size = Self.block.count + 1
            #expect(received.count % Self.block.count == 4)
            #expect((1...4).map { received[received.count - $0 * size] } == [4, 3, 2, 1])
        }
    }

    @Test(arguments: [AddressKind.version4, .unix])
    func `each direction of a connection is finished separately`(kind: AddressKind) async throws {
        try await withPair(kind) { client, server, _ in
            try await client.write([1, 2, 3])
            try await client.finishWriting()
            #expect(try await server.all() == [1, 2, 3])
            #expect(await failure { try await client.write([4]) } == .closed)
            try await server.write([5, 6])
            try await server.finishWriting()
            #expect(try await client.all() == [5, 6])
            try await client.finishWriting()
            #expect(!client.isClosed)
        }
    }

    @Test
    func `written bytes are sent although the connection is closed directly afterwards`() async throws {
        try await withPair { client, server, _ in
            try await client.write(Self.block)
            client.close()
            #expect(try await server.all().count == Self.block.count)
            try await client.waitUntilClosed()
            #expect(await failure { try await client.write([1]) } == .closed)
            #expect(await failure { _ = try await client.read() } == .closed)
        }
    }

    @Test
    func `closing gives up after its timeout if the peer does not read`() async throws {
        var options = StreamOptions()
        options.closeTimeout = .milliseconds(20)
        options.highWaterMark = 1 << 30
        try await withPair(options: options) { client, server, _ in
            for _ in 0..<16 { try await client.write(Self.block) }
            client.close()
            try await client.waitUntilClosed()
            #expect(await failure { _ = try await server.all() } == .reset)
        }
    }

    @Test
    func `only one task can read at a time, and cancelling it loses no bytes`() async throws {
        try await withPair { client, server, loop in
            let reader = Task { try await server.read() }
            while await loop.run({ server.core.reader == nil }) { await Task.yield() }
            #expect(await failure { _ = try await server.read() } == .alreadyWaiting)
            reader.cancel()
            #expect(await failure { _ = try await reader.value } == .cancelled)
            try await client.write([1])
            #expect(try await server.read() == [1])
        }
    }

    @Test
    func `a reader that always has bytes does not delay timers`() async throws {
        try await withPair { client, server, loop in
            let writer = Task { while true { try await client.write(Self.block) } }
            let reader = Task(executorPreference: loop.taskExecutor) {
                for try await _ in server.bytes {}
            }
            for _ in 0..<20 {
                let start = ContinuousClock.now
                try await loop.clock.sleep(for: .milliseconds(1))
                #expect(start.duration(to: .now) < Scale.whileQuick)
            }
            writer.cancel()
            reader.cancel()
            _ = await (writer.result, reader.result)
        }
    }

    @Test
    func `a read returns no more bytes than the buffer size`() async throws {
        var options = StreamOptions()
        options.readBufferSize = 3
        try await withPair(options: options) { client, server, _ in
            try await client.write([1, 2, 3, 4])
            #expect(try await server.read() == [1, 2, 3])
            #expect(try await server.read() == [4])
        }
    }
}

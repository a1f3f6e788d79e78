internal import Foundation
internal import Testing
import WaybillTestSupport

@testable internal import WaybillEventLoop

extension ManualTime {
    /// Advances the time, and fires the timers that are due.
    fileprivate func advance(by duration: Duration) {
        let deadline = Deadline(after: duration, by: TimeSource(manual: self))
        while self.ringNext(until: deadline) {}
    }
}

/// The ways in which a connection ends, except by an orderly close.
@Suite(.timeLimit(.minutes(1)))
struct EndTests {
    @Test
    func `a peer that is killed ends its connection`() async throws {
        try await withListener { listener, _ in
            guard case .tcp(_, let port) = listener.address else {
                Issue.record("the listener does not listen on TCP")
                return
            }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/bash")
            process.arguments = ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); echo hello >&3; read -u 3"]
            process.standardError = FileHandle.nullDevice
            try process.run()
            var connections = listener.connections.makeAsyncIterator()
            let connection = try await connections.next()
            #expect(try await connection?.read() == Array("hello\n".utf8))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(try await connection?.read() == nil)
            // The first write finds that the peer's process has ended. SIGPIPE would end this process.
            let code = await failure {
                for _ in 0..<1000 { try await connection?.write([1]) }
            }
            #expect(code == .reset)
        }
    }

    @Test
    func `a peer's reset fails the reader, and then the writer`() async throws {
        try await withPair { client, server, loop in
            await loop.run { client.core.handle?.resetOnClose() }
            let reader = Task { try await server.read() }
            while await loop.run({ server.core.reader == nil }) { await Task.yield() }
            client.abort()
            #expect(await failure { _ = try await reader.value } == .reset)
            #expect(await failure { try await server.write([1]) } == .reset)
            #expect(server.isClosed)
        }
    }

    @Test
    func `an idle connection is closed after its idle time`() async throws {
        let time = ManualTime()
        var configuration = EventLoop.Configuration()
        configuration.time = TimeSource(manual: time)
        var options = StreamOptions()
        options.idleTimeout = .seconds(60)
        let loop = EventLoop(name: "idle", configuration: configuration)
        let address = StreamAddress.tcp("127.0.0.1", port: 0)
        let listener = try await StreamListener.bind(address, on: loop, options: options)
        let client = try await StreamConnection.connect(to: listener.address, on: loop)
        var connections = listener.connections.makeAsyncIterator()
        let server = try #require(await connections.next())
        time.advance(by: .seconds(40))
        try await client.write([1])
        #expect(try await server.read() == [1])
        time.advance(by: .seconds(40))
        await loop.run {}
        #expect(!server.isClosed)
        // A write without bytes does not restart the idle timeout.
        try await server.write([] as [UInt8])
        let reader = Task { try await server.read() }
        time.advance(by: .seconds(20))
        #expect(await failure { _ = try await reader.value } == .idle)
        #expect(try await client.read() == nil)
        await loop.shutDown()
    }

    @Test(arguments: [AddressKind.version4, .unix])
    func `a loop that shuts down fails each waiting operation`(kind: AddressKind) async throws {
        try await withPair(kind) { client, server, loop in
            let other = try await kind.withAddress { try await StreamListener.bind($0, on: loop) }
            let block = [UInt8](repeating: 0, count: 1 << 20)
            let writer = Task { while true { try await client.write(block) } }
            let finisher = Task {
                while await loop.run({ client.core.writers.isEmpty && !loop.isShutDown }) {}
                try await client.finishWriting()
            }
            let reader = Task { _ = try await client.read() }
            let acceptor = Task { for try await _ in other.connections {} }
            while await loop.run({ client.core.finishers.isEmpty || client.core.reader == nil }) {
                await Task.yield()
            }
            await loop.shutDown()
            for task in [writer, finisher, reader, acceptor] {
                #expect(await failure { try await task.value } == .shutDown)
            }
            try await client.waitUntilClosed()
            #expect(await failure { _ = try await server.read() } == .shutDown)
            #expect(await failure { try await server.write([1]) } == .shutDown)
            server.close()
            server.abort()
        }
    }

    @Test
    func `a dropped connection is closed, and so is a dropped listener`() async throws {
        try await withListener { listener, loop in
            do {
                let connection = try await StreamConnection.connect(to: listener.address, on: loop)
                try await connection.write([1])
            }
            var connections = listener.connections.makeAsyncIterator()
            let server = try await connections.next()
            #expect(try await server?.all() == [1])
            let address: StreamAddress
            do {
                address = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop).address
            }
            await loop.run {}
            #expect(
                await failure { _ = try await StreamConnection.connect(to: address, on: loop) } == .refused
            )
        }
    }

    @Test
    func `closing a listener ends its sequence of connections, and leaves the connections open`() async throws
    {
        try await withPair { client, server, loop in
            let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
            let acceptor = Task {
                for try await _ in listener.connections {}
                return true
            }
            await loop.run {}
            listener.close()
            #expect(try await acceptor.value)
            try await client.write([1])
            #expect(try await server.read() == [1])
        }
    }

    @Test
    func `a host's loop carries streams of an adopted loop, and can be closed afterwards`() async throws {
        let status = try await HostThread.run { host in
            let loop = try host.adopt(name: "guest")
            let echoed = Journal<[UInt8]>()
            Task {
                try await Self.echo([1, 2, 3], on: loop, into: echoed)
                await loop.shutDown()
            }
            host.startTimer(every: 1) {}
            while !loop.isShutDown { host.runOnce() }
            host.stopTimer()
            host.run()
            #expect(echoed.entries == [[1, 2, 3]])
            return host.close()
        }
        #expect(status == 0)
    }

    private static func echo(
        _ bytes: [UInt8],
        on loop: EventLoop,
        into journal: Journal<[UInt8]>
    ) async throws {
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        let client = try await StreamConnection.connect(to: listener.address, on: loop)
        var connections = listener.connections.makeAsyncIterator()
        let server = try await connections.next()
        try await client.write(bytes)
        if let bytes = try await server?.read() { journal.add(bytes) }
    }
}

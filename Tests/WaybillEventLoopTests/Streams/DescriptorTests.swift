#if os(Linux)
internal import CMeasure
internal import Foundation
internal import Glibc
internal import Testing
import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.serialized, .timeLimit(.minutes(10)))
struct DescriptorTests {
    /// The number of connections, which are made one after the other.
    ///
    /// `WAYBILL_CONNECTIONS` sets more.
    private static let count =
        ProcessInfo.processInfo.environment["WAYBILL_CONNECTIONS"].flatMap { Int($0) } ?? 10_000

    @Test(arguments: [AddressKind.version4, .unix])
    func `one connection after the other leaves no memory, stream or descriptor behind`(
        kind: AddressKind
    ) async throws {
        try await withEcho(kind) { address, loop in
            let client = PassingClient(eventLoop: loop)
            // The first connections allocate shared state.
            try await client.exchange(address, connections: 1000)
            try await client.settle()
            let before = try ProcessUsage.now
            let memoryBefore = memory_in_use()
            try await client.exchange(address, connections: Self.count)
            try await client.settle()
            #expect(try ProcessUsage.now.descriptors <= before.descriptors + 2)
            #expect(await loop.run { unsafe loop.core.state.pointee.streams.count } == 1)
            #expect(await loop.run { unsafe loop.core.state.pointee.openHandles } == 0)
            // The smallest block that a connection could leave behind has 16 bytes; caches may grow a little.
            if memoryBefore >= 0, !ProcessUsage.isSanitized {
                #expect(memory_in_use() - memoryBefore < Int64(Self.count) * 8 + 16 * 1024)
            }
        }
    }

    @Test
    func `without free descriptors a listener pauses without spinning, and continues later`() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let loop = EventLoop(name: "full")
            let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
            let server = Task {
                try await listener.serve { connection in
                    for try await bytes in connection.bytes { try await connection.write(bytes) }
                }
            }
            let first = try await StreamConnection.connect(to: listener.address, on: loop)
            try await first.write([1])
            #expect(try await first.read() == [1])
            // Occupy all descriptors but one, which the client then uses.
            var taken: [Int32] = []
            while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
            close(taken.removeLast())
            let second = try await StreamConnection.connect(to: listener.address, on: loop)
            try await second.write([2])
            let time = await loop.run { thread_time() }
            // Use the loop's clock, because the clock of the default executor opens descriptors when it is
            // first used.
            try await loop.clock.sleep(for: .milliseconds(300))
            #expect(await loop.run { thread_time() } - time < 100_000_000)
            // Open connections continue, and the waiting connection is accepted later.
            try await first.write([3])
            #expect(try await first.read() == [3])
            #expect(
                await failure { _ = try await StreamConnection.connect(to: listener.address, on: loop) }
                    == .outOfDescriptors
            )
            for descriptor in taken { close(descriptor) }
            #expect(try await second.read() == [2])
            server.cancel()
            await loop.shutDown()
        }
    }
}

/// A client that connects, sends one byte, receives it, and closes the connection.
private actor PassingClient: LoopBound {
    let eventLoop: EventLoop

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    func exchange(_ address: StreamAddress, connections: Int) async throws {
        for index in 0..<connections {
            let connection = try await StreamConnection.connect(to: address, on: self.eventLoop)
            let byte = UInt8(truncatingIfNeeded: index)
            try await connection.write([byte])
            guard try await connection.read() == [byte] else { throw CancellationError() }
            try await connection.finishWriting()
            // The server closes first, so that the client's port is free at once.
            guard try await connection.read() == nil else { throw CancellationError() }
        }
    }

    /// Waits until the connections that were closed last are released.
    func settle() async throws {
        for _ in 0..<1000 {
            let open = unsafe self.eventLoop.core.state.pointee.streams.count
            if open <= 1, unsafe self.eventLoop.core.state.pointee.openHandles == 0 { return }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
#endif

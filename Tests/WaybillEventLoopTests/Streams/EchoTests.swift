internal import Foundation
internal import Testing

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct EchoTests {
    /// The kinds of address that a listener can have.
    static let kinds: [AddressKind] = [.version4, .version6, .name, .unix]

    @Test(arguments: Self.kinds)
    func `an echo server returns a client's bytes`(kind: AddressKind) async throws {
        try await withEcho(kind) { address, loop in
            let connection = try await StreamConnection.connect(to: address, on: loop)
            try await connection.write(Array("hello, ".utf8))
            try await connection.write([Array("wor".utf8), [], Array("ld".utf8)])
            try await connection.finishWriting()
            #expect(String(decoding: try await connection.all(), as: UTF8.self) == "hello, world")
            #expect(try await connection.read() == nil)
        }
    }

    @Test(arguments: Self.kinds)
    func `an actor stays on its loop while it reads and writes`(kind: AddressKind) async throws {
        try await withEcho(kind) { address, loop in
            let client = LoopClient(eventLoop: loop)
            let count = try await client.exchange(address, rounds: 200)
            #expect(count == 200)
        }
    }

    @Test
    func `a write is sent before a later write of another task, even when the loop must poll`() async throws {
        try await withPair { client, server, loop in
            try await LoopClient(eventLoop: loop).writeAfterBudget("a", before: "b", to: client)
            try await client.finishWriting()
            #expect(String(decoding: try await server.all(), as: UTF8.self) == "ab")
        }
    }

    @Test(arguments: Self.kinds)
    func `a thousand writes of one byte arrive completely and in order`(kind: AddressKind) async throws {
        try await withEcho(kind) { address, loop in
            let connection = try await StreamConnection.connect(to: address, on: loop)
            let sent = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
            let reader = Task { try await connection.all() }
            for byte in sent { try await connection.write([byte]) }
            try await connection.finishWriting()
            #expect(try await reader.value == sent)
        }
    }

    @Test(arguments: Self.kinds)
    func `sixteen megabytes return from an echo server in order`(kind: AddressKind) async throws {
        try await withEcho(kind) { address, loop in
            let connection = try await StreamConnection.connect(to: address, on: loop)
            let blocks = (0..<64).map { _ in Self.block() }
            let writer = Task {
                for block in blocks { try await connection.write(block) }
                try await connection.finishWriting()
            }
            let received = Data(try await connection.all())
            try await writer.value
            #expect(received == blocks.reduce(into: Data()) { $0.append(contentsOf: $1) })
        }
    }

    @Test
    func `a listener has its address, and a connection the address of its peer`() async throws {
        try await withEcho(.version4) { address, loop in
            guard case .tcp("127.0.0.1", let port) = address else {
                Issue.record("\(address)")
                return
            }
            #expect(port > 0)
            let connection = try await StreamConnection.connect(to: address, on: loop)
            #expect(connection.peer == address)
            #expect(connection.peerUserID == nil)
        }
    }

    /// A quarter of a megabyte, made of a block of 4099 bytes.
    ///
    /// A misplaced part is noticed, because this number divides the size of no buffer.
    private static func block() -> [UInt8] {
        let bytes = (0..<4099).map { _ in UInt8.random(in: .min ... .max) }
        var block: [UInt8] = []
        for _ in 0..<64 { block += bytes }
        return block
    }
}

/// A client that checks that it runs on its loop.
actor LoopClient: LoopBound {
    let eventLoop: EventLoop

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    /// Writes a text when the loop has used up its budget, and then a second text in a task that waits
    /// already.
    func writeAfterBudget(
        _ first: String,
        before second: String,
        to connection: StreamConnection
    ) async throws {
        let later = Task {
            self.eventLoop.preconditionInEventLoop()
            try await connection.write(Array(second.utf8))
        }
        while self.eventLoop.consumeDeliveryBudget() {}
        try await connection.write(Array(first.utf8))
        try await later.value
    }

    /// Sends a byte and waits for its echo repeatedly.
    ///
    /// - Returns: The number of echoes.
    func exchange(_ address: StreamAddress, rounds: Int) async throws -> Int {
        let connection = try await StreamConnection.connect(to: address, on: self.eventLoop)
        var count = 0
        for round in 0..<rounds {
            try await connection.write([UInt8(truncatingIfNeeded: round)])
            self.eventLoop.preconditionInEventLoop()
            if try await connection.read() == [UInt8(truncatingIfNeeded: round)] { count += 1 }
            self.eventLoop.preconditionInEventLoop()
        }
        return count
    }
}

internal import Foundation

@testable internal import WaybillEventLoop

/// A kind of address at which a listener can listen.
enum AddressKind: CaseIterable, Sendable {
    case version4, version6, name, unix

    /// Runs a closure with a free address of the kind.
    func withAddress<Result>(_ body: (StreamAddress) async throws -> Result) async throws -> Result {
        switch self {
        case .version4: return try await body(.tcp("127.0.0.1", port: 0))
        case .version6: return try await body(.tcp("::1", port: 0))
        case .name: return try await body(.tcp("localhost", port: 0))
        case .unix: return try await withFolder { try await body(.unix($0 + "/socket")) }
        }
    }
}

/// Runs a closure with a new folder, whose path is short enough for sockets.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let path = "/tmp/waybill-\(UInt32.random(in: .min ... .max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

/// Runs a closure with a listener on a new loop, and ends both afterwards.
func withListener<Result>(
    _ kind: AddressKind = .version4,
    options: StreamOptions = StreamOptions(),
    _ body: (StreamListener, EventLoop) async throws -> Result
) async throws -> Result {
    try await kind.withAddress { address in
        let loop = EventLoop(name: "listener")
        let listener = try await StreamListener.bind(address, on: loop, options: options)
        do {
            let result = try await body(listener, loop)
            await loop.shutDown()
            return result
        } catch {
            await loop.shutDown()
            throw error
        }
    }
}

/// Runs a closure with the address of an echo server, on the same loop.
func withEcho(
    _ kind: AddressKind = .version4,
    options: StreamOptions = StreamOptions(),
    _ body: (StreamAddress, EventLoop) async throws -> Void
) async throws {
    try await withListener(kind, options: options) { listener, loop in
        let server = Task {
            try await listener.serve { connection in
                for try await bytes in connection.bytes { try await connection.write(bytes) }
            }
        }
        defer { server.cancel() }
        var address = listener.address
        // The host name is written as a client would write it.
        if kind == .name, case .tcp(_, let port) = address { address = .tcp("localhost", port: port) }
        try await body(address, loop)
    }
}

/// Runs a closure with both ends of a connection: the client's and the server's.
func withPair<Result>(
    _ kind: AddressKind = .version4,
    options: StreamOptions = StreamOptions(),
    _ body: (_ client: StreamConnection, _ server: StreamConnection, EventLoop) async throws -> Result
) async throws -> Result {
    try await withListener(kind, options: options) { listener, loop in
        let client = try await StreamConnection.connect(to: listener.address, on: loop, options: options)
        var connections = listener.connections.makeAsyncIterator()
        guard let server = try await connections.next() else { throw CancellationError() }
        return try await body(client, server, loop)
    }
}

extension StreamConnection {
    /// Returns all bytes that the peer sends until it has finished.
    func all() async throws -> [UInt8] {
        var all: [UInt8] = []
        for try await bytes in self.bytes { all += bytes }
        return all
    }
}

/// Returns the code of the stream error that a closure throws, or nil if it throws none.
func failure(of body: () async throws -> Void) async -> StreamError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? StreamError)?.code
    }
}

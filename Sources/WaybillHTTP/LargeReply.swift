#if HTTP
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// The rules for a large reply: it counts as a part of its call until the client has read it, and the client
/// must read.
struct LargeReply {
    /// The place of the call.
    let place: ClientCount.Place
    /// The time after which the connection of a client that reads nothing is closed.
    let stallTime: Duration

    /// The size above which a reply is large, in bytes.
    ///
    /// The buffers of the system and of the connection hold a smaller reply.
    private static let size = 64 << 10
    /// The size of the pieces in which a large reply is written, in bytes.
    private static let pieceSize = 16 << 10

    /// Returns the body of a reply.
    func body(_ json: [UInt8]) -> ResponseBody {
        let reply = ByteBuffer(bytes: json)
        guard json.count > Self.size else { return ResponseBody(byteBuffer: reply) }
        // The handler has run, so the reply is sent even if its bytes exceed the limit. The next calls are
        // rejected.
        try? self.place.setBytes(json.count)
        let (place, stallTime) = (self.place, self.stallTime)
        return ResponseBody(contentLength: json.count) { writer in
            defer { withExtendedLifetime(place) {} }
            let written = WrittenPieces()
            // Only the writing task uses the variable until the group has ended.
            nonisolated(unsafe) var output = writer
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    var rest = reply
                    while let piece = rest.readSlice(length: min(Self.pieceSize, rest.readableBytes)),
                        piece.readableBytes > 0
                    {
                        unsafe try await output.write(piece)
                        written.increment()
                    }
                    unsafe try await output.finish(nil)
                }
                group.addTask {
                    var count = -1
                    while count != written.count {
                        count = written.count
                        try await Task.sleep(for: stallTime)
                    }
                    throw StalledStream()
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}

/// The number of pieces of a reply that have been written.
private final class WrittenPieces: Sendable {
    private let value = Atomic(0)

    var count: Int { self.value.load(ordering: .relaxed) }

    func increment() { self.value.add(1, ordering: .relaxed) }
}
#endif

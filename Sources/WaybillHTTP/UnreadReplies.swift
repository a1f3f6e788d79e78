#if HTTP
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// The large replies that clients have not read yet, with a limit on their bytes.
///
/// The buffers of the system and of the connection hold a small reply, so small replies do not count.
struct UnreadReplies: Sendable {
    private let count: ClientCount
    private let stallTime: Duration

    /// The size above which a reply is large, in bytes.
    private static let largeSize = 64 << 10
    /// The size of the pieces in which a large reply is written, in bytes.
    private static let pieceSize = 16 << 10

    /// Creates a count of unread replies.
    ///
    /// One reply may exceed the limit if no other reply is unread. If `limitsClients` is true, one client may
    /// use half of the bytes. When a client reads nothing for `stallTime`, its connection is closed.
    init(byteLimit: Int, limitsClients: Bool, stallTime: Duration) {
        self.count = ClientCount(
            of: "unread replies",
            limit: .max,
            perClient: limitsClients ? .max : nil,
            byteLimit: byteLimit,
            allowsOneAlone: true
        )
        self.stallTime = stallTime
    }

    /// Counts a reply until the returned place is released; the place of a small reply is nil.
    func take(_ bytes: Int, for client: String?) throws(Problem) -> ClientCount.Place? {
        guard bytes > Self.largeSize else { return nil }
        let place = try self.count.take(for: client)
        try place.setBytes(bytes)
        return place
    }

    /// Returns the body of a reply, which counts until the client has read it.
    func body(_ json: [UInt8], for client: String?) throws(Problem) -> ResponseBody {
        let reply = ByteBuffer(bytes: json)
        guard let place = try self.take(json.count, for: client) else {
            return ResponseBody(byteBuffer: reply)
        }
        let stallTime = self.stallTime
        let unsent = UnsentContent((place, reply), limit: stallTime)
        return ResponseBody(contentLength: json.count) { writer in
            let (place, reply) = try unsent.take()
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

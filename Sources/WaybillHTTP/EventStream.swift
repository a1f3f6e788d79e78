#if HTTP
internal import HTTPTypes
package import Hummingbird
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization
internal import WaybillEventLoop

/// One event of a stream, as the HTML standard has them.
package struct ServerSentEvent: Sendable {
    var name: String?
    var id: String?
    var data: [UInt8]

    package init(_ name: String?, id: String? = nil, _ data: [UInt8]) {
        self.name = name
        self.id = id
        self.data = data
    }

    /// The event as it is sent; JSON that came from another process may have several lines.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        if let id { bytes.append(contentsOf: "id: \(id)\n".utf8) }
        if let name { bytes.append(contentsOf: "event: \(name)\n".utf8) }
        let lines = self.data.split(omittingEmptySubsequences: false) {
            $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
        }
        for line in lines {
            bytes.append(contentsOf: "data: ".utf8)
            bytes.append(contentsOf: line)
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}

/// The events on their way to one client, which goes no slower than they are sent: a sender waits until its
/// event has been written.
package final class EventSink: Sendable {
    /// Bytes to write, and the sender that waits for that.
    struct Item: Sendable {
        let bytes: [UInt8]
        fileprivate let sender: Sender
    }

    /// Resumes a sender when its event has been written, or never will be.
    fileprivate final class Sender: Sendable {
        private let continuation: Locked<CheckedContinuation<Void, Never>?>

        init(_ continuation: CheckedContinuation<Void, Never>?) { self.continuation = Locked(continuation) }

        deinit { self.resume() }

        func resume() { self.continuation.withLock { $0.take() }?.resume() }
    }

    let items: AsyncStream<Item>
    private let writer: AsyncStream<Item>.Continuation

    init() { (self.items, self.writer) = AsyncStream.makeStream() }

    /// Sends an event, and waits until it has been written or the stream has ended.
    package func send(_ event: ServerSentEvent) async { await self.send(event.bytes) }

    /// Sends a comment, which clients ignore.
    func sendComment() async { await self.send(Array(":\n\n".utf8)) }

    private func send(_ bytes: [UInt8]) async {
        await withCheckedContinuation { continuation in
            _ = self.writer.yield(Item(bytes: bytes, sender: Sender(continuation)))
        }
    }

    /// Ends the stream; what has been sent is still written.
    func finish(with event: ServerSentEvent? = nil) {
        if let event { self.writer.yield(Item(bytes: event.bytes, sender: Sender(nil))) }
        self.writer.finish()
    }

    /// Says that an event has been written.
    static func acknowledge(_ item: Item) { item.sender.resume() }
}

/// How many streams there are.
final class StreamCount: Sendable {
    private let limit: Int
    private let count = Atomic(0)

    init(limit: Int) { self.limit = limit }

    /// One stream, for as long as this exists.
    final class Place: Sendable {
        private let owner: StreamCount

        fileprivate init(_ owner: StreamCount) { self.owner = owner }

        deinit { self.owner.count.subtract(1, ordering: .relaxed) }
    }

    func take() throws(Problem) -> Place {
        let (_, count) = self.count.add(1, ordering: .relaxed)
        let place = Place(self)
        if count > self.limit { throw Problem(.tooManyRequests, "there are too many streams") }
        return place
    }
}

/// Responses that are streams of events.
package struct EventStreams: Sendable {
    private let count: StreamCount
    private let heartbeat: Duration
    private let isHTTP2: Bool

    /// - Parameters:
    ///   - limit: how many there may be at once.
    ///   - heartbeat: how often a stream in which nothing happens gets a comment.
    ///   - isHTTP2: whether the server speaks HTTP/2.
    package init(limit: Int, heartbeat: Duration, isHTTP2: Bool) {
        self.count = StreamCount(limit: limit)
        self.heartbeat = heartbeat
        self.isHTTP2 = isHTTP2
    }

    /// A response that is a stream of events, until `produce` returns, the client goes away, or the server is
    /// shut down.
    package func response(
        to request: Request,
        _ produce: @escaping @Sendable (EventSink) async -> Void
    ) throws(Problem) -> Response {
        let place = try self.count.take()
        let heartbeat = self.heartbeat
        var headers: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store", .xAccelBuffering: "no",
        ]
        if !self.isHTTP2 { headers[.connection] = "close" }
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { writer in
                defer { withExtendedLifetime(place) {} }
                let sink = EventSink()
                try await withGracefulShutdownHandler {
                    try await request.body.consumeWithCancellationOnInboundClose { _ in
                        // So that the client has the head at once. It is part of the first event, since
                        // some clients take any block for an event.
                        try await writer.write(ByteBuffer(string: "retry: 2000\n"))
                        await withDiscardingTaskGroup { group in
                            group.addTask {
                                await produce(sink)
                                sink.finish()
                            }
                            group.addTask {
                                while (try? await Task.sleep(for: heartbeat)) != nil {
                                    await sink.sendComment()
                                }
                            }
                            for await item in sink.items {
                                do {
                                    try await writer.write(ByteBuffer(bytes: item.bytes))
                                } catch {
                                    break
                                }
                                EventSink.acknowledge(item)
                            }
                            sink.finish()
                            group.cancelAll()
                        }
                    }
                } onGracefulShutdown: {
                    sink.finish(with: .end)
                }
                try await writer.finish(nil)
            }
        )
    }
}

extension ServerSentEvent {
    /// The last event of a stream that the server ends.
    static let end = Self("end", Array("{\"reason\":\"shutDown\"}".utf8))
}
#endif

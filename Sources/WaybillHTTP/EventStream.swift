#if HTTP
internal import HTTPTypes
package import Hummingbird
internal import NIOCore
internal import ServiceLifecycle
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
        let bytes: [ByteBuffer]
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
    /// When the event was sent that has not been written yet.
    private let since = Locked<ContinuousClock.Instant?>(nil)

    init() { (self.items, self.writer) = AsyncStream.makeStream() }

    /// Sends an event, and waits until it has been written or the stream has ended.
    package func send(_ event: ServerSentEvent) async { await self.send([ByteBuffer(bytes: event.bytes)]) }

    /// Sends the bytes of one event, and waits until they have been written or the stream has ended.
    func send(_ bytes: [ByteBuffer]) async {
        self.since.withLock { $0 = .now }
        await withCheckedContinuation { continuation in
            _ = self.writer.yield(Item(bytes: bytes, sender: Sender(continuation)))
        }
        self.since.withLock { $0 = nil }
    }

    /// Sends a comment, which clients ignore, unless an event has not been written yet.
    ///
    /// - Throws: if that event was sent too long ago.
    fileprivate func sendComment(orStallAfter limit: Duration) throws(StalledStream) {
        if let since = self.since.withLock({ $0 }) {
            if .now - since > limit { throw StalledStream() }
        } else {
            self.writer.yield(Item(bytes: [ByteBuffer(string: ":\n\n")], sender: Sender(nil)))
        }
    }

    /// Ends the stream; what has been sent is still written.
    func finish(with event: ServerSentEvent? = nil) {
        if let event { self.writer.yield(Item(bytes: [ByteBuffer(bytes: event.bytes)], sender: Sender(nil))) }
        self.writer.finish()
    }

    /// Ends the stream, and drops the events that have not been written, so that no sender waits for them.
    fileprivate func dropAll() async {
        self.writer.finish()
        for await _ in self.items {}
    }

    /// Says that an event has been written.
    static func acknowledge(_ item: Item) { item.sender.resume() }
}

/// A client has not taken an event for too long, so its connection is closed.
private struct StalledStream: Error {}

/// How many streams there are, in all and of each client.
final class StreamCount: Sendable {
    private struct State {
        var count = 0
        var clients: [String: Int] = [:]
    }

    private let limit: Int
    private let clientLimit: Int?
    private let state = Locked(State())

    init(limit: Int, perClient clientLimit: Int?) {
        self.limit = limit
        self.clientLimit = clientLimit
    }

    /// One stream, for as long as this exists.
    final class Place: Sendable {
        private let owner: StreamCount
        private let client: String?

        fileprivate init(_ owner: StreamCount, _ client: String?) {
            self.owner = owner
            self.client = client
        }

        deinit { self.owner.end(of: self.client) }
    }

    /// Takes the place of a stream.
    ///
    /// - Parameter client: the address of the client; nil if it is not known.
    /// - Returns: The place, which is given back when it is released.
    /// - Throws: The problem that the server has too many event streams.
    func take(for client: String?) throws(Problem) -> Place {
        let refusal: String? = self.state.withLock { state in
            if state.count >= self.limit { return "the server has too many event streams" }
            if let client {
                let count = state.clients[client, default: 0]
                if let clientLimit, count >= clientLimit { return "this client has too many event streams" }
                state.clients[client] = count + 1
            }
            state.count += 1
            return nil
        }
        if let refusal { throw Problem(.tooManyRequests, refusal) }
        return Place(self, client)
    }

    private func end(of client: String?) {
        self.state.withLock { state in
            state.count -= 1
            guard let client, let count = state.clients[client] else { return }
            state.clients[client] = count == 1 ? nil : count - 1
        }
    }
}

/// Responses that are streams of events.
package struct EventStreams: Sendable {
    private let count: StreamCount
    private let heartbeat: Duration
    private let stallTime: Duration
    private let isHTTP2: Bool

    /// - Parameters:
    ///   - limit: how many there may be at once.
    ///   - clientLimit: how many of them one client may have.
    ///   - heartbeat: how often a stream in which nothing happens gets a comment.
    ///   - stallTime: how long a client may take for an event.
    ///   - isHTTP2: whether the server speaks HTTP/2.
    package init(
        limit: Int,
        perClient clientLimit: Int? = nil,
        heartbeat: Duration,
        stallTime: Duration = .seconds(30),
        isHTTP2: Bool
    ) {
        self.count = StreamCount(limit: limit, perClient: clientLimit)
        self.heartbeat = heartbeat
        self.stallTime = stallTime
        self.isHTTP2 = isHTTP2
    }

    /// A response that is a stream of events, until `produce` returns, the client goes away or does not read,
    /// or the server is shut down.
    ///
    /// - Parameters:
    ///   - request: the request that is answered.
    ///   - client: the address of the client; nil if it is not known.
    ///   - produce: sends the events.
    /// - Returns: The response.
    /// - Throws: The problem that the server has too many event streams.
    package func response(
        to request: Request,
        from client: String? = nil,
        _ produce: @escaping @Sendable (EventSink) async -> Void
    ) throws(Problem) -> Response {
        let place = try self.count.take(for: client)
        let (heartbeat, stallTime) = (self.heartbeat, self.stallTime)
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
                // So that the client has the head at once. It is part of the first event, since some clients
                // take any block for an event.
                try await writer.write(ByteBuffer(string: "retry: 2000\n"))
                // Only the task that writes uses it until the group has ended.
                nonisolated(unsafe) var body = writer
                try await withGracefulShutdownHandler {
                    try await request.body.consumeWithCancellationOnInboundClose { _ in
                        // Whether all has been written.
                        try await withThrowingTaskGroup(of: Bool.self) { group in
                            group.addTask {
                                do {
                                    for await item in sink.items {
                                        for bytes in item.bytes { unsafe try await body.write(bytes) }
                                        EventSink.acknowledge(item)
                                    }
                                } catch {
                                    await sink.dropAll()
                                    throw error
                                }
                                return true
                            }
                            group.addTask {
                                await produce(sink)
                                sink.finish()
                                return false
                            }
                            group.addTask {
                                while (try? await Task.sleep(for: min(heartbeat, stallTime))) != nil {
                                    try sink.sendComment(orStallAfter: stallTime)
                                }
                                return false
                            }
                            defer { group.cancelAll() }
                            while let isWritten = try await group.next(), !isWritten {}
                            sink.finish()
                        }
                    }
                } onGracefulShutdown: {
                    sink.finish(with: .end)
                }
                unsafe try await body.finish(nil)
            }
        )
    }
}

extension ServerSentEvent {
    /// The last event of a stream that the server ends.
    static let end = Self("end", Array("{\"reason\":\"shutDown\"}".utf8))
}
#endif

#if HTTP
internal import HTTPTypes
package import Hummingbird
internal import NIOCore
internal import ServiceLifecycle
internal import WaybillEventLoop

/// A server-sent event, as the HTML standard defines it.
package struct ServerSentEvent: Sendable {
    var name: String?
    var id: String?
    var data: [UInt8]

    package init(_ name: String?, id: String? = nil, _ data: [UInt8]) {
        self.name = name
        self.id = id
        self.data = data
    }

    /// The bytes of the event.
    ///
    /// The JSON may have several lines if the value came from another process.
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

/// The stream of events to one client.
///
/// A sender waits until its event has been written, so that it does not send faster than the client reads.
package final class EventSink: Sendable {
    /// Bytes to write, and the sender that waits for them.
    struct Item: Sendable {
        let bytes: [ByteBuffer]
        fileprivate let sender: Sender
    }

    /// An object that resumes a sender when its event has been written or dropped.
    fileprivate final class Sender: Sendable {
        private let continuation: Locked<CheckedContinuation<Void, Never>?>

        init(_ continuation: CheckedContinuation<Void, Never>?) { self.continuation = Locked(continuation) }

        deinit { self.resume() }

        func resume() { self.continuation.withLock { $0.take() }?.resume() }
    }

    let items: AsyncStream<Item>
    private let writer: AsyncStream<Item>.Continuation
    /// The time at which the writing task began to write the current item; nil while it writes no item.
    private let since = Locked<ContinuousClock.Instant?>(nil)

    init() { (self.items, self.writer) = AsyncStream.makeStream() }

    /// Sends an event, and waits until it has been written or the stream has ended.
    package func send(_ event: ServerSentEvent) async { await self.send([ByteBuffer(bytes: event.bytes)]) }

    /// Sends the bytes of one event, and waits until they have been written or the stream has ended.
    func send(_ bytes: [ByteBuffer]) async {
        await withCheckedContinuation { continuation in
            _ = self.writer.yield(Item(bytes: bytes, sender: Sender(continuation)))
        }
    }

    /// Records that the writing task begins or ends to write an item.
    ///
    /// Comments and the end of the stream count too: a client that reads nothing blocks them as well.
    fileprivate func setWriting(_ isWriting: Bool) {
        self.since.withLock { $0 = isWriting ? .now : nil }
    }

    /// Sends a comment, which clients ignore, unless another item is being written.
    ///
    /// - Throws: `StalledStream` if that item has been waiting longer than the limit.
    fileprivate func sendComment(orStallAfter limit: Duration) throws(StalledStream) {
        if let since = self.since.withLock({ $0 }) {
            if .now - since > limit { throw StalledStream() }
        } else {
            self.writer.yield(Item(bytes: [ByteBuffer(string: ":\n\n")], sender: Sender(nil)))
        }
    }

    /// Ends the stream after the events that have been sent before.
    func finish(with event: ServerSentEvent? = nil) {
        if let event { self.writer.yield(Item(bytes: [ByteBuffer(bytes: event.bytes)], sender: Sender(nil))) }
        self.writer.finish()
    }

    /// Ends the stream, drops the unwritten events, and resumes their senders.
    fileprivate func dropAll() async {
        self.writer.finish()
        for await _ in self.items {}
    }

    /// Resumes the sender of an event that has been written.
    static func acknowledge(_ item: Item) { item.sender.resume() }
}

/// The error that closes the connection of a client that has not read its data in time.
struct StalledStream: Error {}

/// The responses that are streams of server-sent events.
package struct EventStreams: Sendable {
    private let count: ClientCount
    private let heartbeat: Duration
    private let stallTime: Duration
    private let isHTTP2: Bool
    private let watchesConnections: Bool

    /// Creates streams with limits.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of open streams.
    ///   - clientLimit: The maximum number of open streams of one client; nil for no limit.
    ///   - heartbeat: The interval after which an idle stream sends a comment.
    ///   - stallTime: The maximum time in which a client must read an event.
    ///   - isHTTP2: Whether the server uses HTTP/2.
    ///   - watchesConnections: Whether the end of a connection cancels the code that sends the events.
    package init(
        limit: Int,
        perClient clientLimit: Int? = nil,
        heartbeat: Duration,
        stallTime: Duration = .seconds(30),
        isHTTP2: Bool,
        watchesConnections: Bool = true
    ) {
        self.count = ClientCount(of: "event streams", limit: limit, perClient: clientLimit)
        self.heartbeat = heartbeat
        self.stallTime = stallTime
        self.isHTTP2 = isHTTP2
        self.watchesConnections = watchesConnections
    }

    /// Returns a response to a GET request that is a stream of events.
    ///
    /// A stream detects the end of its connection while it reads the bytes after the body, which must
    /// therefore have arrived. A body of several parts, which nothing reads, would block this reading.
    ///
    /// - Parameters:
    ///   - request: The request to respond to, which must have no body.
    ///   - client: The address of the client; nil if the address is unknown.
    ///   - produce: Sends the events.
    /// - Returns: The response.
    /// - Throws: The problem that there are too many event streams, or that the request has a body.
    package func response(
        toGet request: Request,
        from client: String? = nil,
        _ produce: @escaping @Sendable (EventSink) async -> Void
    ) async throws -> Response {
        let collected = try await self.collectingNoBody(of: request)
        return try self.response(to: collected, at: self.take(for: client), produce)
    }

    /// Returns a GET request after its body, which must be empty, has arrived.
    func collectingNoBody(of request: Request) async throws -> Request {
        guard request.mayHaveBody(inHTTP2: self.isHTTP2) else { return request }
        return try await request.collectingBody(upTo: 0, within: self.stallTime).0
    }

    /// Counts a stream of a client until the returned place is released.
    ///
    /// The address of the client is nil if it is unknown. The method throws the problem that there are too
    /// many event streams.
    func take(for client: String?) throws(Problem) -> ClientCount.Place { try self.count.take(for: client) }

    /// Returns a response that is a stream of events.
    ///
    /// The stream ends when `produce` returns, when the client disconnects or does not read in time, or when
    /// the server shuts down.
    ///
    /// - Parameters:
    ///   - request: The request to respond to, whose body has been collected.
    ///   - place: The place of the stream, which the response keeps until its end.
    ///   - produce: Sends the events.
    /// - Returns: The response.
    func response(
        to request: Request,
        at place: ClientCount.Place,
        _ produce: @escaping @Sendable (EventSink) async -> Void
    ) -> Response {
        let unsent = UnsentContent((place, produce), limit: self.stallTime)
        let (stallTime, watchesConnections) = (self.stallTime, self.watchesConnections)
        let interval = min(self.heartbeat, stallTime)
        var headers: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store", .xAccelBuffering: "no",
            .waybillHeartbeat: "\(Int(min(max(1, interval / .milliseconds(1)), 0xFFFF_FFFF)))",
        ]
        if !self.isHTTP2 { headers[.connection] = "close" }
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { writer in
                let (place, produce) = try unsent.take()
                defer { withExtendedLifetime(place) {} }
                let sink = EventSink()
                // The first write makes the server send the head at once. The line belongs to the first
                // event. A blank line would end an event, and some clients would report the empty event.
                try await writer.write(ByteBuffer(string: "retry: 2000\n"))
                // Only the writing task uses the value until the stream has ended.
                nonisolated(unsafe) let output = writer
                let run = {
                    try await sink.run(
                        writingTo: unsafe output,
                        commentAfter: interval,
                        stallTime: stallTime,
                        produce
                    )
                }
                try await withGracefulShutdownHandler {
                    guard watchesConnections else { return try await run() }
                    try await request.body.consumeWithCancellationOnInboundClose { _ in try await run() }
                } onGracefulShutdown: {
                    sink.finish(with: .end)
                }
            }
        )
    }
}

extension EventSink {
    /// Writes the events that `produce` sends, and comments while no event is sent.
    ///
    /// The method returns after `produce` has returned, and throws when the client reads nothing for
    /// `stallTime`.
    fileprivate func run(
        writingTo output: any ResponseBodyWriter,
        commentAfter interval: Duration,
        stallTime: Duration,
        _ produce: @escaping @Sendable (EventSink) async -> Void
    ) async throws {
        // Only the writing task uses the variable until the group has ended.
        nonisolated(unsafe) var output = output
        // The result of a child task is whether all events have been written.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                do {
                    for await item in self.items {
                        self.setWriting(true)
                        for bytes in item.bytes { unsafe try await output.write(bytes) }
                        self.setWriting(false)
                        Self.acknowledge(item)
                    }
                    self.setWriting(true)
                    unsafe try await output.finish(nil)
                } catch {
                    await self.dropAll()
                    throw error
                }
                return true
            }
            group.addTask {
                await produce(self)
                self.finish()
                return false
            }
            group.addTask {
                while (try? await Task.sleep(for: interval)) != nil {
                    try self.sendComment(orStallAfter: stallTime)
                }
                return false
            }
            defer { group.cancelAll() }
            while let isWritten = try await group.next(), !isWritten {}
            self.finish()
        }
    }
}

extension ServerSentEvent {
    /// The last event of a stream that ends because the server shuts down.
    static let end = Self("end", Array("{\"reason\":\"shutDown\"}".utf8))
}
#endif

#if Web
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
public import Waybill
internal import WaybillJSON
public import WaybillRouting

/// The messages that are published to a pattern on the bus of another process, which an HTTP gateway sends as
/// server-sent events.
///
/// ```swift
/// let shop = GatewayConnector("https://example.com/bus")
/// for try await message in shop.subscription(to: "app://prices/:symbol") {
///     let price = try message.parameter("price", as: Double.self)
/// }
/// ```
///
/// Each iteration uses one connection, and opens a new connection when the connection is lost, or when three
/// heartbeats of the gateway are missing. The gateway then sends the messages that were published in between,
/// if it still has them. A gateway that was started again no longer has them. The server must expose the
/// pattern for subscribing. When the reader is slow, the oldest messages are dropped.
public struct GatewaySubscription: AsyncSequence, Sendable {
    /// A message that was published.
    public struct Message: Sendable {
        /// The URL to which the message was published.
        public var url: String { self.content.url }

        /// The headers of the message.
        public var headers: [String: String] { self.content.headers }

        /// Whether messages before this message may be missing.
        ///
        /// Messages are missing if the gateway no longer had them when the connection was opened again, or if
        /// the reader was too slow.
        public fileprivate(set) var isAfterGap = false

        /// The position of the message among the messages of the subscription.
        ///
        /// A position that no message has stands for missing messages.
        fileprivate let number: Int

        private let content: PublishedMessage

        fileprivate init(_ json: JSONText, number: Int) {
            self.number = number
            self.content = PublishedMessage(json, beside: json)
        }

        /// Returns a parameter of the message; nil if the message has no parameter with the name.
        ///
        /// - Throws: `typeMismatch` if the parameter has another type.
        public func parameter<Value: Decodable>(
            _ name: String,
            as type: Value.Type = Value.self
        ) throws(RoutingError) -> Value? {
            try self.content.parameter(name, as: type)
        }

        /// Returns the payload of the message; nil if the message has no payload.
        ///
        /// - Throws: `typeMismatch` if the payload has another type.
        public func payload<Value: Decodable>(as type: Value.Type = Value.self) throws(RoutingError) -> Value?
        {
            try self.content.payload(as: type)
        }
    }

    private let pattern: String
    private let connector: GatewayConnector

    /// The maximum number of messages that wait for the reader.
    private static let limit = 1024

    fileprivate init(_ pattern: String, _ connector: GatewayConnector) {
        self.pattern = pattern
        self.connector = connector
    }

    /// Begins to read the messages.
    public func makeAsyncIterator() -> Iterator {
        let messages = AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.limit)) { messages in
            let task = Task {
                var reader = Reader(self.pattern, self.connector, messages)
                await reader.run()
            }
            messages.onTermination = { _ in task.cancel() }
        }
        return Iterator(messages: messages.makeAsyncIterator())
    }

    /// Reads the messages of a subscription.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var messages: AsyncThrowingStream<Message, any Error>.AsyncIterator
        /// The position of the latest message.
        private var latest = 0

        fileprivate init(messages: AsyncThrowingStream<Message, any Error>.AsyncIterator) {
            self.messages = messages
        }

        /// Returns the next message, or nil after the cancellation of the calling task.
        ///
        /// - Throws: A `RoutingError` if the server refuses the subscription, or if the first connection
        ///   fails. The code of a failed first connection is `unreachable` or `deadlineExceeded`.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(any Error) -> Message? {
            guard var message = try await self.messages.next(isolation: actor) else { return nil }
            message.isAfterGap = message.number != self.latest + 1
            self.latest = message.number
            return message
        }
    }
}

/// The task that reads the events of a subscription, and connects again when a connection is lost.
private struct Reader {
    private let connector: GatewayConnector
    private let pattern: String
    private let messages: AsyncThrowingStream<GatewaySubscription.Message, any Error>.Continuation
    private var hasBegun = false
    private var lastID = ""
    private var count = 0
    private var pause = Self.firstPause

    private static let firstPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(2)

    init(
        _ pattern: String,
        _ connector: GatewayConnector,
        _ messages: AsyncThrowingStream<GatewaySubscription.Message, any Error>.Continuation
    ) {
        self.connector = connector
        self.pattern = pattern
        self.messages = messages
    }

    /// Delivers messages until the reader ends or the server refuses the subscription.
    mutating func run() async {
        while !Task.isCancelled {
            do {
                try await self.readConnection()
            } catch {
                let error = RoutingError.web(error, url: self.pattern)
                let code = (error as? RoutingError)?.code
                let passing: [RoutingError.Code] = [.unreachable, .shutDown, .deadlineExceeded, .mailboxFull]
                let isPassing = code.map(passing.contains) ?? false
                guard self.hasBegun, isPassing else {
                    return self.messages.finish(throwing: Task.isCancelled ? nil : error)
                }
            }
            do { try await ContinuousClock().sleep(for: self.pause) } catch { break }
            self.pause = min(self.pause * 2, Self.longestPause)
        }
        self.messages.finish()
    }

    /// Delivers the messages of one connection.
    private mutating func readConnection() async throws {
        var request = try self.connector.request(
            for: "subscribe?pattern=\(Address.encode(self.pattern))",
            accept: "text/event-stream",
            url: self.pattern
        )
        let client = self.connector.client
        if !self.lastID.isEmpty { request.headers.add(name: "Last-Event-ID", value: self.lastID) }
        let response = try await client.execute(request, timeout: TimeAmount(EventBody.silence))
        try await GatewayConnector.check(response, to: request, of: client, url: self.pattern)
        // Messages before the first event cannot be requested again.
        if self.hasBegun, self.lastID.isEmpty { self.count += 1 }
        self.hasBegun = true
        var events = EventParser(limit: GatewayConnector.limit)
        let body = EventBody(response, of: client)
        while let buffer = try await body.next() {
            for event in try events.parse(buffer.readableBytesView) {
                self.pause = Self.firstPause
                if !event.id.isEmpty { self.lastID = event.id }
                switch event.name {
                case "message":
                    let message = try GatewayConnector.json(event.data, url: self.pattern)
                    self.count += 1
                    // If the buffer is full, the new message replaces the oldest message.
                    self.messages.yield(GatewaySubscription.Message(message, number: self.count))
                case "gap": self.count += 1
                case "end": return
                default: break
                }
            }
        }
    }
}

extension GatewayConnector: RemoteConnector {
    /// Returns the fingerprint of the routes that the server exposes.
    ///
    /// A client that the command `waybill client` has generated contains the fingerprint of its routes. If
    /// the two fingerprints differ, the routes have changed.
    ///
    /// - Throws: `unreachable` if the server cannot be reached, or `noRoute` if the server's version of
    ///   Waybill is too old to have fingerprints.
    public func fingerprint() async throws(RoutingError) -> String {
        let url = "fingerprint"
        do {
            let request = try self.request(for: url, accept: "application/json", url: url)
            let response = try await self.client.execute(request, timeout: .seconds(60))
            try await Self.check(response, to: request, of: self.client, url: url)
            let body = try await EventBody(response, of: self.client).collect(upTo: Self.limit)
            return try Self.json(body, url: url).string ?? ""
        } catch {
            let error = RoutingError.web(error, url: url)
            throw error as? RoutingError
                ?? RoutingError(.cancelled, message: "the caller was cancelled", cause: error)
        }
    }

    /// Returns the messages that are published to a pattern on the server's bus.
    public func subscription(to pattern: String) -> GatewaySubscription { GatewaySubscription(pattern, self) }
}
#endif

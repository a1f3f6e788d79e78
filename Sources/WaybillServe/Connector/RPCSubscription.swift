internal import Synchronization
public import Waybill
public import WaybillEventLoop
internal import WaybillJSON
public import WaybillRouting

/// The messages that are published to a pattern on the bus of another process.
///
/// ```swift
/// for try await message in RPCSubscription("app://prices/:symbol", at: .unix("/run/shop.sock")) {
///     let price = try message.parameter("price", as: Double.self)
/// }
/// ```
///
/// Each iteration uses one connection, and opens a new connection when the connection is lost. The server
/// must expose the pattern for subscribing. When the reader is slow, the oldest messages are dropped.
public struct RPCSubscription: AsyncSequence, Sendable {
    /// A message that was published.
    public struct Message: Sendable {
        /// The URL to which the message was published.
        public var url: String { self.content.url }

        /// The headers of the message.
        public var headers: [String: String] { self.content.headers }

        /// Whether messages before this message may be missing.
        ///
        /// Messages are missing if the connection was lost or if the reader was too slow.
        public fileprivate(set) var isAfterGap = false

        /// The position of the message among the messages of the subscription.
        ///
        /// A position that no message has stands for messages that were lost with a connection, or that the
        /// server has dropped.
        fileprivate let number: Int

        private let content: PublishedMessage

        /// Returns nil for a message that the server could not send, which is only counted.
        fileprivate init?(_ text: String, counting count: MessageCount) {
            let json = JSONText(Array(text.utf8))
            let missed = json.member(named: "missed")?.int ?? 0
            self.number = count.next(afterMissing: missed)
            if json.member(named: "error") != nil { return nil }
            self.content = PublishedMessage(json, beside: json.member(named: RPCParameters.reservedKey))
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
    private let address: StreamAddress
    private let configuration: RPCConnector.Configuration

    /// The maximum number of messages that wait for the reader.
    private static let limit = 1024

    /// Creates a subscription, which connects when an iteration begins.
    ///
    /// - Parameters:
    ///   - pattern: The pattern.
    ///   - address: The address at which the server listens.
    ///   - configuration: The settings of the connection.
    public init(
        _ pattern: String,
        at address: StreamAddress,
        configuration: RPCConnector.Configuration = RPCConnector.Configuration()
    ) {
        self.pattern = pattern
        self.address = address
        self.configuration = configuration
    }

    /// Begins to read the messages.
    public func makeAsyncIterator() -> Iterator {
        let messages = AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.limit)) { messages in
            let task = Task { await self.read(into: messages) }
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
        /// - Throws: The `RoutingError` for which the server refuses the subscription.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(any Error) -> Message? {
            guard var message = try await self.messages.next(isolation: actor) else { return nil }
            message.isAfterGap = message.number != self.latest &+ 1
            self.latest = message.number
            return message
        }
    }

    /// Delivers the messages, and connects again when a connection is lost, until the reader ends.
    private func read(into messages: AsyncThrowingStream<Message, any Error>.Continuation) async {
        let client = RPCClient(self.address, self.configuration)
        defer { client.close() }
        let count = MessageCount()
        var wasConnected = false
        while !Task.isCancelled {
            do {
                try await self.readConnection(client, into: messages, counting: count)
                wasConnected = true
                _ = count.next()
            } catch let error as RPCRequestError where error.code == .unreachable && wasConnected {
                continue
            } catch let error as RPCRequestError where error.code == .shutDown && wasConnected {
                // The server closes this connection after the last of its calls.
                try? await ContinuousClock().sleep(for: .milliseconds(100))
            } catch let error as RPCRequestError {
                return messages.finish(throwing: RoutingError(error.code, message: error.message))
            } catch {
                return messages.finish()
            }
        }
    }

    /// Delivers messages until the connection or the subscription ends.
    private func readConnection(
        _ client: RPCClient,
        into messages: AsyncThrowingStream<Message, any Error>.Continuation,
        counting count: MessageCount
    ) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        await client.takeMessages { text in
            guard let text else { return end.finish() }
            // If the buffer is full, the new message replaces the oldest message.
            if let message = Message(text, counting: count) { messages.yield(message) }
        }
        var options = RPCRequestOptions()
        var writer = JSONWriter()
        writer.raw("{\"pattern\":")
        writer.string(self.pattern)
        writer.raw("}")
        options.parameters = String(decoding: writer.bytes, as: UTF8.self)
        _ = try await client.request(SystemMethod.subscribe.rawValue, options)
        for await _ in ends {}
        try Task.checkCancellation()
    }
}

extension RPCConnector: RemoteConnector {
    /// Returns the fingerprint of the routes that the server exposes.
    ///
    /// A client that the command `waybill client` has generated contains the fingerprint of its routes. If
    /// the two fingerprints differ, the routes have changed.
    ///
    /// - Throws: `unreachable` if the server cannot be reached, or `noRoute` if the server's version of
    ///   Waybill is too old to have fingerprints.
    public func fingerprint() async throws(RoutingError) -> String {
        let client = RPCClient(self.address, self.configuration)
        defer { client.close() }
        do {
            let json = try await client.request(SystemMethod.fingerprint.rawValue)
            return JSONText(Array(json.utf8)).string ?? ""
        } catch let error as RPCRequestError {
            throw RoutingError(error.code, message: error.message)
        } catch {
            throw RoutingError(.cancelled, message: "the caller was cancelled", cause: error)
        }
    }

    /// Returns the messages that are published to a pattern on the server's bus.
    public func subscription(to pattern: String) -> RPCSubscription {
        RPCSubscription(pattern, at: self.address, configuration: self.configuration)
    }
}

/// The number of messages of a subscription.
private final class MessageCount: Sendable {
    private let count = Atomic(0)

    /// Counts a message and the messages that are missing before it, and returns the position of the message.
    func next(afterMissing missed: Int = 0) -> Int {
        self.count.wrappingAdd(1 &+ max(0, missed), ordering: .relaxed).newValue
    }
}

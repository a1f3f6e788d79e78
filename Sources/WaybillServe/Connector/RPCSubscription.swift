internal import Waybill
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
        public let url: String

        /// The headers of the message.
        public let headers: [String: String]

        /// Whether messages before this message may be missing.
        ///
        /// Messages are missing if the connection was lost or if the reader was too slow.
        public fileprivate(set) var isAfterGap = false

        private let parameters: JSONText?
        private let content: JSONText?

        fileprivate init(_ text: String) {
            let json = JSONText(Array(text.utf8))
            let beside = json.member(named: RPCParameters.reservedKey)
            let headers = (beside?.member(named: "headers")?.members ?? []).compactMap { name, value in
                value.string.map { (name, $0) }
            }
            self.url = json.member(named: "url")?.string ?? ""
            self.headers = Dictionary(headers) { _, last in last }
            self.parameters = json.member(named: "parameters")
            self.content = beside?.member(named: "payload")
        }

        /// Returns a parameter of the message; nil if the message has no parameter with the name.
        ///
        /// - Throws: `typeMismatch` if the parameter has another type.
        public func parameter<Value: Decodable>(
            _ name: String,
            as type: Value.Type = Value.self
        ) throws(RoutingError) -> Value? {
            try self.decoded(self.parameters?.member(named: name), as: type)
        }

        /// Returns the payload of the message; nil if the message has no payload.
        ///
        /// - Throws: `typeMismatch` if the payload has another type.
        public func payload<Value: Decodable>(as type: Value.Type = Value.self) throws(RoutingError) -> Value?
        {
            try self.decoded(self.content, as: type)
        }

        private func decoded<Value>(_ text: JSONText?, as type: Value.Type) throws(RoutingError) -> Value? {
            guard let text else { return nil }
            if let value = try? text.decoded(as: type) { return value }
            throw RoutingError(.typeMismatch, url: self.url, message: "the value is not a \(type)")
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
    public func makeAsyncIterator() -> AsyncThrowingStream<Message, any Error>.AsyncIterator {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.limit)) { messages in
            let task = Task { await self.read(into: messages) }
            messages.onTermination = { _ in task.cancel() }
        }.makeAsyncIterator()
    }

    /// Delivers the messages, and connects again when a connection is lost, until the reader ends.
    private func read(into messages: AsyncThrowingStream<Message, any Error>.Continuation) async {
        let client = RPCClient(self.address, self.configuration)
        defer { client.close() }
        var hasGap = false
        while !Task.isCancelled {
            do {
                try await self.readConnection(client, into: messages, hasGap: hasGap)
                hasGap = true
            } catch let error as RPCRequestError where error.code == .unreachable && hasGap {
                continue
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
        hasGap: Bool
    ) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let isAfterGap = Locked(hasGap)
        await client.takeMessages { text in
            guard let text else { return end.finish() }
            var message = Message(text)
            message.isAfterGap = isAfterGap.withLock { flag in
                defer { flag = false }
                return flag
            }
            // If the buffer is full, the new message replaces the oldest message.
            if case .dropped = messages.yield(message) { isAfterGap.withLock { $0 = true } }
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

extension RPCConnector {
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

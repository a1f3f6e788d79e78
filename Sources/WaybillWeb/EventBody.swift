#if Web
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import WaybillRouting

/// Reads the body of a response, and fails when the server is silent for too long.
///
/// The time limit of the HTTP client ends with the head of the response. In a stream of events, a gateway
/// sends a comment after each interval in which it has sent no event. If three of these comments are missing,
/// the other end of the connection has vanished without closing the connection.
actor EventBody {
    private var parts: HTTPClientResponse.Body.AsyncIterator
    private let silence: Duration
    private let loop: any EventLoop

    /// The longest silence if the gateway does not state its interval, and the longest time to wait for a
    /// response.
    static let silence = Duration.seconds(45)

    init(_ response: HTTPClientResponse, of client: HTTPClient) {
        self.parts = response.body.makeAsyncIterator()
        let interval = response.headers.first(name: "Waybill-Heartbeat").flatMap { UInt32($0) }
        self.silence = interval.map { .milliseconds(3 * Int64(max(1, $0))) } ?? Self.silence
        self.loop = client.eventLoopGroup.any()
    }

    /// Returns the next part; nil at the end of the body.
    ///
    /// - Throws: `unreachable` after too long a silence, `CancellationError` if the caller is cancelled, or
    ///   the error of the HTTP client.
    func next() async throws -> ByteBuffer? {
        let reading = Task { try await self.read() }
        // `Task.sleep` keeps its memory until its end, even after a cancellation.
        let timer = self.loop.scheduleTask(in: TimeAmount(self.silence)) { reading.cancel() }
        let result = await withTaskCancellationHandler {
            await reading.result
        } onCancel: {
            reading.cancel()
        }
        timer.cancel()
        // The timer may fire after a part has arrived.
        if case .success(let part?) = result { return part }
        try Task.checkCancellation()
        guard reading.isCancelled else { return try result.get() }
        throw RoutingError(
            .unreachable,
            message: "the gateway has sent nothing for \(self.silence)"
        )
    }

    /// Returns all remaining parts as one array.
    ///
    /// - Throws: `NIOTooManyBytesError` if there are more than `limit` bytes, or an error of ``next()``.
    func collect(upTo limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try await self.next() {
            bytes += part.readableBytesView
            if bytes.count > limit { throw NIOTooManyBytesError(maxBytes: limit) }
        }
        return bytes
    }

    private func read() async throws -> ByteBuffer? {
        var parts = self.parts
        defer { self.parts = parts }
        return try await parts.next(isolation: self)
    }
}
#endif

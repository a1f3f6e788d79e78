public import WaybillRouting

extension MessageBus {
    /// Listens in on messages and their replies, for as long as somebody reads.
    ///
    /// ```swift
    /// for await event in try bus.trace(matching: "app://user/**") { print(event) }
    /// ```
    ///
    /// Off, it costs nothing; on, it slows down every delivery of the bus a little, since they take the way of a bus with
    /// middlewares. It is around all middlewares, and so sees what the caller sees.
    ///
    /// - Parameters:
    ///   - pattern: the pattern of the URLs that are of interest; nil for all, those without a handler included.
    ///   - bufferLimit: how many events to keep for whoever reads; the oldest are dropped for newer ones, and counted.
    /// - Returns: the events, from now on.
    /// - Throws: `invalidPattern`.
    public func trace(
        matching pattern: String? = nil,
        bufferLimit: Int = 1024
    ) throws(RoutingError) -> MessageTrace {
        let scope: RouteTable<Void>? =
            if let pattern { try self.core.configuration.scope(of: pattern) } else { nil }
        let (stream, continuation) = AsyncStream.makeStream(
            of: MessageTrace.Event.self,
            bufferingPolicy: .bufferingNewest(max(1, bufferLimit))
        )
        let wiretap = Wiretap(continuation)
        let registration = self.core.surround(pattern: pattern) { $0.add(wiretap, scope: scope) }
        return MessageTrace(tap: MessageTrace.Tap(stream, wiretap.losses, registration))
    }
}

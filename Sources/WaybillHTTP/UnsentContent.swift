#if HTTP
internal import NIOCore
internal import NIOPosix
internal import WaybillEventLoop

/// The content of a response until the server begins to write the body, for a limited time.
///
/// Hummingbird writes the head of a response before it calls the closure that writes the body. A client that
/// reads nothing can block the head for any time. After the limit, this object therefore releases the
/// content, which then no longer counts against the limits of the gateway.
final class UnsentContent<Content: Sendable>: Sendable {
    private let content: Locked<Content?>
    private let timer = Locked<Scheduled<Void>?>(nil)

    init(_ content: Content, limit: Duration) {
        self.content = Locked(content)
        // The loop of the bus may be busy, and `Task.sleep` would keep memory until the end of the time.
        let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(limit)) {
            [weak self] in
            _ = try? self?.take()
        }
        self.timer.withLock { $0 = timer }
    }

    deinit { self.timer.withLock { $0 }?.cancel() }

    /// Returns the content, because the server begins to write the body.
    ///
    /// - Throws: `StalledStream` if the limit has passed.
    func take() throws(StalledStream) -> Content {
        guard let content = self.content.withLock({ $0.take() }) else { throw StalledStream() }
        return content
    }
}
#endif

internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// A subscriber: code, or a buffer from which a sequence reads.
final class Subscriber: Sendable {
    /// The receiver of the messages.
    enum Receiver: Sendable {
        case handler(Handler)
        case buffer(SubscriptionBuffer)
    }

    let receiver: Receiver
    private let isUnsubscribed = Atomic<Bool>(false)

    init(_ handler: Handler) { self.receiver = .handler(handler) }

    init(_ buffer: SubscriptionBuffer) { self.receiver = .buffer(buffer) }

    var handler: Handler? {
        if case .handler(let handler) = self.receiver { handler } else { nil }
    }

    /// Whether the subscriber has been unsubscribed and accepts no more messages.
    var isGone: Bool { self.isUnsubscribed.load(ordering: .acquiring) }

    /// Fails the messages that wait for the subscriber, and rejects later messages.
    func retire(with reason: @escaping @Sendable (String) -> RoutingError, exempting exempt: [Exchange] = [])
    {
        self.isUnsubscribed.store(true, ordering: .releasing)
        switch self.receiver {
        case .handler(let handler): handler.retire(with: reason, exempting: exempt)
        case .buffer(let buffer): buffer.end(with: reason)
        }
    }
}

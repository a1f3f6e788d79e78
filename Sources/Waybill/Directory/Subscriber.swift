internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// Somebody who has subscribed: code, or a feed that somebody reads.
final class Subscriber: Sendable {
    /// Where the messages go.
    enum Receiver: Sendable {
        case handler(Handler)
        case feed(Feed)
    }

    let receiver: Receiver

    /// The code of one that cannot suspend; calling it makes no value that has to be boxed.
    let body: (@Sendable (Message) throws -> Void)?

    /// The loop that the code is called on.
    let loop: ObjectIdentifier?

    private let isUnsubscribed = Atomic<Bool>(false)

    init(_ handler: Handler) {
        self.receiver = .handler(handler)
        self.body = (handler.code as? ImmediateBody<Void>)?.body
        self.loop = handler.loop
    }

    init(_ feed: Feed) {
        self.receiver = .feed(feed)
        self.body = nil
        self.loop = nil
    }

    var handler: Handler? {
        if case .handler(let handler) = self.receiver { handler } else { nil }
    }

    /// Whether it wants no more messages.
    @inline(__always)
    var isGone: Bool { self.isUnsubscribed.load(ordering: .acquiring) }

    /// Ends what it waits for, and takes no more.
    func retire(with reason: @escaping @Sendable (String) -> RoutingError, sparing spared: [Exchange] = []) {
        self.isUnsubscribed.store(true, ordering: .releasing)
        switch self.receiver {
        case .handler(let handler): handler.retire(with: reason, sparing: spared)
        case .feed(let feed): feed.end(with: reason)
        }
    }
}

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
    let code: SubscriberCode?

    /// The loop that the code is called on.
    private let loop: ObjectIdentifier?

    private let mailbox: Mailbox?
    private let isUnsubscribed = Atomic<Bool>(false)

    init(_ handler: Handler, _ body: (@Sendable (Message) throws -> Void)? = nil) {
        self.receiver = .handler(handler)
        self.code = body.map(SubscriberCode.init)
        self.loop = handler.loop
        self.mailbox = handler.mailbox
    }

    init(_ feed: Feed) {
        self.receiver = .feed(feed)
        self.code = nil
        self.loop = nil
        self.mailbox = nil
    }

    /// Whether its code can be called at once by somebody on a loop, and nothing that was sent to it before waits.
    @inline(__always)
    func isReady(on loop: ObjectIdentifier) -> Bool {
        guard self.loop == loop, !self.isGone, let mailbox = self.mailbox else { return false }
        return !mailbox.isOccupied
    }

    /// What came of calling its code.
    enum Hearing {
        case taken
        case failed(any Error)
        /// It has to be told in another way.
        case notReady
    }

    /// Gives it a message, if that takes no more than a call; the caller is on the lane's loop.
    @inline(__always)
    func hear(_ message: inout Message, on lane: Lane) -> Hearing {
        guard !message.due.exists, self.isReady(on: lane.loop), let code = self.code else {
            return .notReady
        }
        message.id = lane.nextID()
        Counters.increment(lane.counters.sent)
        if let error = code.call(message) { return .failed(error) }
        Counters.increment(lane.counters.replied)
        return .taken
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

internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// A subscriber: code, or a buffer that a sequence reads.
final class Subscriber: Sendable {
    /// Where the messages go.
    enum Receiver: Sendable {
        case handler(Handler)
        case buffer(SubscriptionBuffer)
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

    init(_ buffer: SubscriptionBuffer) {
        self.receiver = .buffer(buffer)
        self.code = nil
        self.loop = nil
        self.mailbox = nil
    }

    /// Whether its code can be called at once by a publisher on a loop, with no earlier message waiting in
    /// its mailbox.
    @inline(__always)
    func isReady(on loop: ObjectIdentifier) -> Bool {
        guard self.loop == loop, !self.isGone, let mailbox = self.mailbox else { return false }
        return !mailbox.isOccupied
    }

    /// How calling its code ended.
    enum CallResult {
        case taken
        case failed(any Error)
        /// It cannot be called in place.
        case notReady
    }

    /// Gives it a message, if that takes no more than a call; the caller is on the shard's loop.
    @inline(__always)
    func hear(_ message: inout Message, on shard: LoopShard) -> CallResult {
        guard !message.expiry.exists, self.isReady(on: shard.loop), let code = self.code else {
            return .notReady
        }
        message.id = shard.nextID()
        Counters.increment(shard.counters.sent)
        if let error = code.call(message) { return .failed(error) }
        Counters.increment(shard.counters.replied)
        return .taken
    }

    var handler: Handler? {
        if case .handler(let handler) = self.receiver { handler } else { nil }
    }

    /// Whether it takes no more messages.
    @inline(__always)
    var isGone: Bool { self.isUnsubscribed.load(ordering: .acquiring) }

    /// Ends the messages that wait in it, and takes no more.
    func retire(with reason: @escaping @Sendable (String) -> RoutingError, exempting exempt: [Exchange] = [])
    {
        self.isUnsubscribed.store(true, ordering: .releasing)
        switch self.receiver {
        case .handler(let handler): handler.retire(with: reason, exempting: exempt)
        case .buffer(let buffer): buffer.end(with: reason)
        }
    }
}

/// Code that answers nothing and cannot suspend.
final class SubscriberCode: Sendable {
    // A borrowed message is not copied first.
    private let body: @Sendable (borrowing Message) throws -> Void

    init(_ body: @escaping @Sendable (Message) throws -> Void) { self.body = body }

    @inline(__always)
    func call(_ message: borrowing Message) -> (any Error)? {
        do {
            try self.body(message)
            return nil
        } catch {
            return error
        }
    }
}

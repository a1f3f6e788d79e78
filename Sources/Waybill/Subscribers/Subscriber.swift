internal import Synchronization
internal import WaybillRouting

/// A subscriber: code, or a buffer from which a sequence reads.
final class Subscriber: Sendable {
    enum Receiver: Sendable {
        case handler(Handler)
        case buffer(SubscriptionBuffer)
    }

    let receiver: Receiver
    private let isUnsubscribed = Atomic<Bool>(false)

    init(_ handler: Handler) { self.receiver = .handler(handler) }

    init(_ buffer: SubscriptionBuffer) { self.receiver = .buffer(buffer) }

    var handler: Handler? { if case .handler(let handler) = self.receiver { handler } else { nil } }

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

/// The subscribers of one message, in the order of subscription.
struct MatchedSubscribers: Sendable {
    private(set) var subscribers: [Subscriber] = []

    /// The parameters of the URL, once for each pattern that matches.
    private(set) var parameters: [Parameters] = []

    /// The index in ``parameters`` for each subscriber; empty when only one pattern matches.
    private(set) var patterns: [Int] = []
    private var ids: [Int] = []

    var isEmpty: Bool { self.subscribers.isEmpty }

    /// Adds the subscribers of another pattern.
    mutating func append(_ subscribers: [Subscriber], ids: [Int], _ parameters: Parameters) {
        self.parameters.append(parameters)
        if self.parameters.count == 1 {
            self.subscribers = subscribers
            self.ids = ids
            return
        }
        if self.patterns.isEmpty { self.patterns = Array(repeating: 0, count: self.subscribers.count) }
        self.patterns += repeatElement(self.parameters.count - 1, count: subscribers.count)
        self.subscribers += subscribers
        self.ids += ids
    }

    /// Sorts the subscribers of several patterns in the order of subscription.
    mutating func sort() {
        guard self.parameters.count > 1 else { return }
        // The subscribers of each pattern are already in order, so the sort of the standard library is fast.
        let order = self.ids.indices.sorted { self.ids[$0] < self.ids[$1] }
        self.subscribers = order.map { self.subscribers[$0] }
        self.patterns = order.map { self.patterns[$0] }
    }

    /// Returns the index in ``parameters`` for a subscriber.
    func patternIndex(ofSubscriber index: Int) -> Int { self.patterns.isEmpty ? 0 : self.patterns[index] }
}

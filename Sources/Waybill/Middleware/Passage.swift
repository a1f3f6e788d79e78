internal import WaybillEventLoop

/// What a message has with it that meets middlewares and is not done when they are.
final class Passage: Sendable {
    /// The middlewares that a message meets when its turn comes in the mailbox.
    let chain: Chain?

    /// Who wants to know of replies before the last one.
    let observers: [@Sendable (any Sendable) -> Void]

    private let luggage: Luggage

    /// The headers with which a message reached its handler; its return leg has the same.
    private final class Luggage: Sendable {
        let headers = Locked<[String: String]?>(nil)
    }

    init(chain: Chain? = nil) {
        self.chain = chain
        self.observers = []
        self.luggage = Luggage()
    }

    private init(_ passage: Passage, observers: [@Sendable (any Sendable) -> Void]) {
        self.chain = passage.chain
        self.observers = observers
        self.luggage = passage.luggage
    }

    func adding(_ observer: @escaping @Sendable (any Sendable) -> Void) -> Passage {
        Passage(self, observers: self.observers + [observer])
    }

    /// The headers with which the message reached its handler, if it did.
    var headers: [String: String]? {
        get { self.luggage.headers.withLock { $0 } }
        set { self.luggage.headers.withLock { $0 = newValue } }
    }
}

extension Message {
    /// Has the middlewares look at a message that is sent, and meet it when its turn comes.
    mutating func surround(with chain: Chain) {
        let message = chain.prepare(self)
        self = message.with(extras: (message.extras ?? .empty).with(passage: Passage(chain: chain)))
    }

    /// Has the headers kept that a message with a return URL will have when it reaches its handler.
    mutating func keepHeaders() {
        guard self.hasReturnURL else { return }
        self = self.with(extras: (self.extras ?? .empty).with(passage: Passage()))
    }

    /// Notes that the message reaches its handler as it is.
    func arrive() {
        guard self.hasReturnURL, let passage = self.extras?.passage else { return }
        passage.headers = self.headers
    }

    /// The headers of the return leg.
    var returnHeaders: [String: String] { self.extras?.passage?.headers ?? self.headers }

    /// The message, which tells somebody of replies before the last one.
    func observed(by observer: @escaping @Sendable (any Sendable) -> Void) -> Message {
        guard let extras = self.extras, extras.exchange != nil else { return self }
        return self.with(extras: extras.with(passage: (extras.passage ?? Passage()).adding(observer)))
    }
}

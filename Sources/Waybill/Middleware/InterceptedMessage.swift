internal import WaybillEventLoop
internal import WaybillRouting

/// What observers see between a message and its last reply.
enum ProgressEvent: Sendable {
    /// The handler has sent a progress reply.
    case progress(any Sendable)
    /// The caller has answered one.
    case answer(any Sendable)
}

/// What a message carries that meets middlewares.
final class InterceptionState: Sendable {
    /// The observers of progress replies.
    let observers: [@Sendable (ProgressEvent) -> Void]

    private let arrival: ArrivalHeaders

    /// The headers with which a message reached its handler; its return leg has the same.
    private final class ArrivalHeaders: Sendable {
        let headers = Locked<[String: String]?>(nil)
    }

    init() {
        self.observers = []
        self.arrival = ArrivalHeaders()
    }

    private init(_ interception: InterceptionState, observers: [@Sendable (ProgressEvent) -> Void]) {
        self.observers = observers
        self.arrival = interception.arrival
    }

    func adding(_ observer: @escaping @Sendable (ProgressEvent) -> Void) -> InterceptionState {
        InterceptionState(self, observers: self.observers + [observer])
    }

    /// The headers with which the message reached its handler, if it did.
    var headers: [String: String]? {
        get { self.arrival.headers.withLock { $0 } }
        set { self.arrival.headers.withLock { $0 = newValue } }
    }
}

extension Message {
    /// Has the middlewares look at a message that is sent, before its turn comes.
    ///
    /// - Parameters:
    ///   - chain: the middlewares.
    ///   - provenance: how the message was given to the bus, if that is observed.
    mutating func prepare(for chain: MiddlewareChain, from provenance: MessageProvenance? = nil) {
        self = chain.prepare(self)
        if let provenance { self = self.with(extras: (self.extras ?? .empty).with(provenance: provenance)) }
        self.keepHeaders()
    }

    /// Has the headers kept that a message with a return URL will have when it reaches its handler.
    mutating func keepHeaders() {
        guard self.hasReturnURL else { return }
        self = self.with(extras: (self.extras ?? .empty).with(interception: InterceptionState()))
    }

    /// Notes that the message reaches its handler as it is.
    func arrive() {
        guard self.hasReturnURL, let interception = self.extras?.interception else { return }
        interception.headers = self.headers
    }

    /// The headers of the return leg.
    var returnHeaders: [String: String] { self.extras?.interception?.headers ?? self.headers }

    /// The message, with an observer of its progress replies.
    func observed(by observer: @escaping @Sendable (ProgressEvent) -> Void) -> Message {
        guard self.exchange != nil else { return self }
        let extras = self.extras ?? .empty
        return self.with(
            extras: extras.with(interception: (extras.interception ?? InterceptionState()).adding(observer))
        )
    }
}

internal import WaybillEventLoop

/// The state of a message that passes through middlewares.
final class InterceptionState: Sendable {
    /// An observer of the progress replies of a message, and of the answers to them.
    typealias Observer = @Sendable (MessageTrace.Event.Kind) -> Void

    let observers: [Observer]

    private let arrival: ArrivalHeaders

    /// The headers with which a message reached its handler, and which the message to the return URL gets.
    final class ArrivalHeaders: Sendable {
        let headers = Locked<[String: String]?>(nil)
    }

    init(observers: [Observer] = [], arrival: ArrivalHeaders = ArrivalHeaders()) {
        self.observers = observers
        self.arrival = arrival
    }

    func adding(_ observer: @escaping Observer) -> InterceptionState {
        InterceptionState(observers: self.observers + [observer], arrival: self.arrival)
    }

    var headers: [String: String]? {
        get { self.arrival.headers.withLock { $0 } }
        set { self.arrival.headers.withLock { $0 = newValue } }
    }
}

extension Message {
    /// Calls the `prepare` method of each middleware, before a sent message waits in a mailbox.
    mutating func prepare(for chain: MiddlewareChain, from provenance: MessageProvenance? = nil) {
        self = chain.prepare(self)
        if let provenance {
            self = self.replacing(extras: (self.extras ?? .empty).replacing(provenance: provenance))
        }
        self.keepHeaders()
    }

    /// Makes a message with a return URL keep the headers with which it reaches its handler.
    mutating func keepHeaders() {
        guard self.hasReturnURL else { return }
        self = self.replacing(extras: (self.extras ?? .empty).replacing(interception: InterceptionState()))
    }

    /// Records the headers with which the message reaches its handler.
    func arrive() {
        if self.hasReturnURL { self.extras?.interception?.headers = self.headers }
    }

    /// The headers of the message that carries the reply to the return URL.
    var returnHeaders: [String: String] { self.extras?.interception?.headers ?? self.headers }

    /// Returns the message with an additional observer of its progress replies.
    func observed(by observer: @escaping InterceptionState.Observer) -> Message {
        guard self.exchange != nil else { return self }
        let interception = (self.extras?.interception ?? InterceptionState()).adding(observer)
        return self.replacing(extras: (self.extras ?? .empty).replacing(interception: interception))
    }
}

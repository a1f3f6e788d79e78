internal import WaybillEventLoop
internal import WaybillRouting

/// An event between a message and its last reply, for observers.
enum ProgressEvent: Sendable {
    /// The handler has sent a progress reply.
    case progress(any Sendable)
    /// The caller has answered a progress reply.
    case answer(any Sendable)
}

/// The state of a message that passes through middlewares.
final class InterceptionState: Sendable {
    /// The observers of progress replies.
    let observers: [@Sendable (ProgressEvent) -> Void]

    private let arrival: ArrivalHeaders

    /// The headers with which a message reached its handler, which are also the headers of its return leg.
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

    /// The headers with which the message reached its handler, or nil if it has not reached it.
    var headers: [String: String]? {
        get { self.arrival.headers.withLock { $0 } }
        set { self.arrival.headers.withLock { $0 = newValue } }
    }
}

extension Message {
    /// Passes a sent message to the `prepare` method of each middleware before the message's turn comes.
    ///
    /// - Parameters:
    ///   - chain: The middlewares.
    ///   - provenance: The provenance of the message, or nil if the bus is not observed.
    mutating func prepare(for chain: MiddlewareChain, from provenance: MessageProvenance? = nil) {
        self = chain.prepare(self)
        if let provenance {
            self = self.replacing(extras: (self.extras ?? .empty).replacing(provenance: provenance))
        }
        self.keepHeaders()
    }

    /// Prepares a message with a return URL so that the headers with which it reaches its handler are kept.
    mutating func keepHeaders() {
        guard self.hasReturnURL else { return }
        self = self.replacing(extras: (self.extras ?? .empty).replacing(interception: InterceptionState()))
    }

    /// Records the headers with which the message reaches its handler.
    func arrive() {
        guard self.hasReturnURL, let interception = self.extras?.interception else { return }
        interception.headers = self.headers
    }

    /// The headers of the return leg.
    var returnHeaders: [String: String] { self.extras?.interception?.headers ?? self.headers }

    /// Returns the message with an additional observer of its progress replies.
    func observed(by observer: @escaping @Sendable (ProgressEvent) -> Void) -> Message {
        guard self.exchange != nil else { return self }
        let extras = self.extras ?? .empty
        return self.replacing(
            extras: extras.replacing(
                interception: (extras.interception ?? InterceptionState()).adding(observer)
            )
        )
    }
}

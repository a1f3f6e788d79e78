internal import WaybillEventLoop
public import WaybillRouting

/// The input of a handler: an address, parameters, an optional payload, and the ID that the reply carries.
///
/// A message is a value, so you can keep it, pass it on, and read it from any isolation.
public struct Message: Sendable {
    // The stored properties are `let` where possible, because the compiler (6.3) copies a message with more
    // variables when the message is passed on. The parameters come first, as in the result of a match, so
    // that the words that the processor has just written keep their layout when they are moved.
    /// The values of the path, of the query and of the call in a single view.
    public internal(set) var parameters: Parameters

    /// The ID that the replies to this message carry.
    public internal(set) var id: CorrelationID

    let expiry: Deadline

    /// The properties that only some messages have; nil for a plain request, which needs no memory for them.
    var extras: MessageExtras? { self.attachment.extras }

    /// The exchange with the caller; nil when the handler cannot send progress replies.
    var exchange: Exchange? { self.attachment.exchange }

    private let attachment: Attachment

    let notes: Notes

    @inline(__always)
    init(
        id: CorrelationID,
        parameters: consuming Parameters,
        hops: Int,
        expiry: Deadline = .never,
        extras: MessageExtras? = nil,
        exchange: Exchange? = nil
    ) {
        self.notes = Notes(hops: hops, hasDeadline: expiry.exists, hasReturnURL: parameters.hasFragment)
        self.id = id
        self.parameters = parameters
        self.expiry = expiry
        self.attachment = Attachment(extras, exchange)
    }

    /// The extras and the exchange in one word, so that a message stays small.
    private enum Attachment: Sendable {
        case nothing
        case extras(MessageExtras)
        case exchange(Exchange)
        indirect case both(MessageExtras, Exchange)

        init(_ extras: MessageExtras?, _ exchange: Exchange?) {
            switch (extras, exchange) {
            case (nil, nil): self = .nothing
            case (let extras?, nil): self = .extras(extras)
            case (nil, let exchange?): self = .exchange(exchange)
            case (let extras?, let exchange?): self = .both(extras, exchange)
            }
        }

        var extras: MessageExtras? {
            switch self {
            case .nothing, .exchange: nil
            case .extras(let extras), .both(let extras, _): extras
            }
        }

        var exchange: Exchange? {
            switch self {
            case .nothing, .extras: nil
            case .exchange(let exchange), .both(_, let exchange): exchange
            }
        }
    }

    /// The flags and the hop count in one word, because a message is moved with every delivery.
    struct Notes: Sendable {
        private let bits: UInt64

        init(hops: Int, hasDeadline: Bool, hasReturnURL: Bool) {
            self.bits =
                UInt64(truncatingIfNeeded: hops) &<< 2 | (hasDeadline ? 1 : 0) | (hasReturnURL ? 2 : 0)
        }

        var hasDeadline: Bool { self.bits & 1 != 0 }

        var hasReturnURL: Bool { self.bits & 2 != 0 }

        var hops: Int { Int(truncatingIfNeeded: self.bits &>> 2) }
    }
}

extension Message {
    func replacing(
        extras: MessageExtras? = nil,
        expiry: Deadline? = nil,
        exchange: Exchange? = nil
    ) -> Message {
        Message(
            id: self.id,
            parameters: self.parameters,
            hops: self.hops,
            expiry: expiry ?? self.expiry,
            extras: extras ?? self.extras,
            exchange: exchange ?? self.exchange
        )
    }

    /// Returns the message for a handler that may send progress replies to the caller.
    func sendingProgress(to exchange: Exchange) -> Message { self.replacing(exchange: exchange) }

    /// The number of routed messages that led to this message; 0 for a message that no handler sent.
    package var hops: Int { self.notes.hops }

    var hasDeadline: Bool { self.notes.hasDeadline }

    /// The return URL that receives the reply's value in addition to the caller.
    var returnPath: ReturnPath? { self.hasReturnURL ? self.extras?.returnPath : nil }

    /// Whether the URL has a fragment, which can be a return URL.
    @usableFromInline var hasReturnURL: Bool { self.notes.hasReturnURL }
}

extension Message {
    /// The URL that the message was sent to.
    public var address: Address { self.parameters.address }

    /// The verb at the beginning of the URL, for example `push` in `app://push/user/detail?uid=1`.
    ///
    /// The value is nil without a verb, or when the bus's conventions have no
    /// ``/WaybillRouting/RoutingConventions/leadingVerbs``.
    public var transition: RouteTransition? { self.parameters.address.transition }

    /// Text for the infrastructure, separate from the parameters: trace context, content type, tenant.
    public var headers: [String: String] { self.extras?.headers ?? [:] }

    /// The time at which the caller stops waiting; nil when the caller waits without a limit.
    public var deadline: ContinuousClock.Instant? { self.expiry.instant }

    /// The ID of the message that this message answers; nil unless this message was sent to a return URL.
    public var correlationID: CorrelationID? { self.extras?.correlationID }

    /// The value that the message carries, for a message to a return URL the value of the reply.
    public var payload: (any Sendable)? { self.rawPayload.map { EncodedValues.plain($0) } }

    /// The value that the message carries, still encoded if it was received as bytes.
    package var rawPayload: (any Sendable)? { self.extras?.payload }

    /// The origin of the message: this process, or a peer that can reach exposed URLs.
    public var origin: MessageOrigin { self.extras?.external?.origin ?? .local }

    /// Returns the value that the message carries, as the type that the handler needs.
    ///
    /// - Throws: `missingParameter` if the message carries no value, or `typeMismatch`.
    public func payload<Value: Sendable>(as type: Value.Type) throws(RoutingError) -> Value {
        guard let payload = self.rawPayload else {
            let need = "the handler needs a payload of type \(TypeName.of(type)): pass one with the message"
            throw RoutingError(.missingParameter, url: self.parameters.url, message: need)
        }
        guard let value = converted(payload, to: type) else {
            throw .typeMismatch(url: self.url, wanted: type, found: payload, origin: "the payload is")
        }
        return value
    }
}

extension Message: CustomStringConvertible {
    /// One readable line with the ID, the URL, and the ID of the message that this message answers.
    public var description: String {
        let answer = self.correlationID.map { " answering \($0)" } ?? ""
        return "message \(self.id) to \(self.parameters.url.onShortLine)\(answer)"
    }
}

extension Message {
    /// Ends an awaited message whose handler may suspend, as if its caller had been cancelled.
    package func endAsCancelled() { self.exchange?.cancel() }
}

/// Copies of a message that a middleware can pass on.
extension Message {
    /// Returns a copy of the message with more parameters, which replace parameters of the same name.
    public func with(parameters: [String: any Sendable]) -> Message {
        var message = self
        message.parameters = self.parameters.merging(call: parameters)
        return message
    }

    /// Returns a copy of the message with more headers, which replace existing headers of the same name.
    public func with(headers: [String: String]) -> Message {
        guard !headers.isEmpty else { return self }
        let all = self.headers.merging(headers) { _, new in new }
        return self.replacing(extras: (self.extras ?? .empty).replacing(headers: all))
    }

    /// Returns a copy of the message with a deadline, or with its own deadline if that is earlier.
    public func with(deadline: ContinuousClock.Instant) -> Message {
        self.replacing(expiry: min(self.expiry, Deadline(deadline)))
    }
}

/// The parameters and the payload of a message, compared by identity.
///
/// The messages of one publication share one content, so code can encode the content once. Two contents that
/// are not equal can still contain equal values.
package struct SharedContent: Sendable, Equatable {
    private let passed: PassedValues?
    private let extras: MessageExtras?

    package static func == (left: Self, right: Self) -> Bool {
        left.passed === right.passed && left.extras === right.extras
    }

    fileprivate init(_ message: Message) {
        self.passed = message.parameters.passed
        self.extras = message.extras?.payload == nil ? nil : message.extras
    }
}

extension Message {
    /// The parameters and the payload, for code that checks whether another message shares them.
    package var sharedContent: SharedContent { SharedContent(self) }
}

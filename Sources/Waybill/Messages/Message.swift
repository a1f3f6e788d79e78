internal import WaybillEventLoop
public import WaybillRouting

/// What a handler receives: where it was sent, what it brings, and the ID that its reply will carry.
///
/// A message is a value: it can be kept, passed on, and read from any isolation.
public struct Message: Sendable {
    // What can be `let` is: the compiler (6.3) copies a message with more that can change where it is passed
    // on. The parameters come first: as they are where they were matched, so that what is moved lies the same
    // way in the words that the processor has just written.
    /// The values of the path, of the query and of the call, as one view.
    public internal(set) var parameters: Parameters

    /// The ID that every answer to this message carries.
    public internal(set) var id: CorrelationID

    /// When the caller stops waiting.
    let expiry: Deadline

    /// What only some messages have; a plain request has none, and allocates nothing.
    var extras: MessageExtras? { self.attachment.extras }

    /// Where progress replies go, if the handler may give any: the exchange with the caller.
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

    /// Extras and exchange in one word, for the same reason as ``Notes``.
    private enum Attachment: Sendable {
        case nothing
        case extras(MessageExtras)
        case exchange(Exchange)
        indirect case both(MessageExtras, Exchange)

        @inline(__always)
        init(_ extras: MessageExtras?, _ exchange: Exchange?) {
            switch (extras, exchange) {
            case (nil, nil): self = .nothing
            case (let extras?, nil): self = .extras(extras)
            case (nil, let exchange?): self = .exchange(exchange)
            case (let extras?, let exchange?): self = .both(extras, exchange)
            }
        }

        @inline(__always)
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

    /// Flags and counts in one word, so that a message stays small: it is moved with every delivery.
    struct Notes: Sendable {
        private let bits: UInt64

        @inline(__always)
        init(hops: Int, hasDeadline: Bool, hasReturnURL: Bool) {
            self.bits =
                UInt64(truncatingIfNeeded: hops) &<< 2 | (hasDeadline ? 1 : 0) | (hasReturnURL ? 2 : 0)
        }

        var hasDeadline: Bool { self.bits & 1 != 0 }

        var hasReturnURL: Bool { self.bits & 2 != 0 }

        @inline(__always)
        var hops: Int { Int(truncatingIfNeeded: self.bits &>> 2) }
    }
}

extension Message {
    /// The message with other extras, or an earlier deadline.
    func with(extras: MessageExtras? = nil, expiry: Deadline? = nil) -> Message {
        Message(
            id: self.id,
            parameters: self.parameters,
            hops: self.hops,
            expiry: expiry ?? self.expiry,
            extras: extras ?? self.extras,
            exchange: self.exchange
        )
    }

    /// How many routes led here: 0 for a message that no handler sent.
    package var hops: Int { self.notes.hops }

    /// Whether there is a deadline.
    var hasDeadline: Bool { self.notes.hasDeadline }

    /// Where the value of the reply goes beside the caller; nil if that is nowhere.
    @inline(__always)
    var returnPath: ReturnPath? { self.hasReturnURL ? self.extras?.returnPath : nil }

    /// Whether there is a fragment, which may be a URL for the reply.
    @usableFromInline var hasReturnURL: Bool { self.notes.hasReturnURL }
}

extension Message {
    /// The URL that the message was sent to.
    public var address: Address { self.parameters.address }

    /// How what is behind the URL is to appear: `push` in `app://push/user/detail?uid=1`; nil if the URL does
    /// not say it, or the bus's conventions have no ``WaybillRouting/RoutingConventions/leadingVerbs``.
    public var transition: RouteTransition? { self.parameters.address.transition }

    /// Text that travels beside the parameters, for the infrastructure: trace context, content type, tenant.
    public var headers: [String: String] { self.extras?.headers ?? [:] }

    /// When the caller stops waiting, if it ever does.
    public var deadline: ContinuousClock.Instant? { self.expiry.instant }

    /// The ID of the message that this one answers, when it was sent to a return URL.
    public var correlationID: CorrelationID? { self.extras?.correlationID }

    /// The value that the message carries: a reply's value, when it was sent to a return URL.
    public var payload: (any Sendable)? { self.extras?.payload.map { EncodedValues.plain($0) } }

    /// Where the message came from: this process, or a peer that reaches what is exposed.
    public var origin: MessageOrigin { self.extras?.external?.origin ?? .local }

    /// The value that the message carries, as the type that the handler needs.
    ///
    /// - Throws: `missingParameter` if the message carries none, `typeMismatch` if it carries another type.
    public func payload<Value: Sendable>(as type: Value.Type) throws(RoutingError) -> Value {
        guard let payload = self.extras?.payload else {
            throw RoutingError(
                .missingParameter,
                url: self.parameters.url,
                message: "the message carries no payload, but \(TypeName.of(type)) is needed"
            )
        }
        guard let value = converted(payload, to: type) else {
            throw .typeMismatch(
                url: self.parameters.url,
                wanted: type,
                found: payload,
                origin: "the payload is"
            )
        }
        return value
    }
}

extension Message: CustomStringConvertible {
    /// One readable line: ID, URL, and what it answers.
    public var description: String {
        let answer = self.correlationID.map { " answering \($0)" } ?? ""
        return "message \(self.id) to \(self.parameters.url.onShortLine)\(answer)"
    }
}

/// Messages made from a message, for middlewares to pass on.
extension Message {
    /// The message with more values, which win over those that it has.
    public func with(parameters: [String: any Sendable]) -> Message {
        var message = self
        message.parameters = self.parameters.merging(call: parameters)
        return message
    }

    /// The message with more headers, which win over those that it has.
    public func with(headers: [String: String]) -> Message {
        guard !headers.isEmpty else { return self }
        let extras = self.extras ?? .empty
        return self.with(extras: extras.with(headers: extras.headers.merging(headers) { _, new in new }))
    }

    /// The message with a deadline; of two deadlines the earlier one holds.
    public func with(deadline: ContinuousClock.Instant) -> Message {
        self.with(expiry: min(self.expiry, Deadline(deadline)))
    }
}

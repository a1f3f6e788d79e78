internal import WaybillEventLoop
public import WaybillRouting

/// What a handler receives: where it was sent, what it brings, and the ID that its reply will carry.
///
/// A message is a value: it can be kept, passed on, and read from any isolation.
public struct Message: Sendable {
    /// The ID that every answer to this message carries.
    public internal(set) var id: CorrelationID

    /// The values of the path, of the query and of the call, as one view.
    public internal(set) var parameters: Parameters

    /// How many routes led here: 0 for a message that no handler sent.
    let hops: Int

    /// When the caller stops waiting.
    var due: Deadline

    /// What only some messages have; a plain request has none, and allocates nothing.
    var extras: MessageExtras?

    /// Whether there is a deadline.
    @usableFromInline var hasDeadline: Bool

    /// Whether there is a fragment, which may be a URL for the reply.
    @usableFromInline let hasReturnURL: Bool

    init(
        id: CorrelationID,
        parameters: consuming Parameters,
        hops: Int,
        due: Deadline = .never,
        extras: MessageExtras? = nil
    ) {
        self.id = id
        self.hasReturnURL = parameters.hasFragment
        self.parameters = parameters
        self.hops = hops
        self.due = due
        self.hasDeadline = due.exists
        self.extras = extras
    }
}

extension Message {
    /// The URL that the message was sent to.
    public var address: Address { self.parameters.address }

    /// Text that travels beside the parameters, for the infrastructure: trace context, content type, tenant.
    public var headers: [String: String] { self.extras?.headers ?? [:] }

    /// When the caller stops waiting, if it ever does.
    public var deadline: ContinuousClock.Instant? { self.due.instant }

    /// The ID of the message that this one answers, when it was sent to a return URL.
    public var correlationID: CorrelationID? { self.extras?.correlationID }

    /// The value that the message carries: a reply's value, when it was sent to a return URL.
    public var payload: (any Sendable)? { self.extras?.payload }

    /// The value that the message carries, as the type that the handler needs.
    ///
    /// - Throws: `missingParameter` if the message carries none, `typeMismatch` if it carries another type.
    public func payload<Value: Sendable>(as type: Value.Type) throws(RoutingError) -> Value {
        guard let payload = self.payload else {
            throw RoutingError(
                .missingParameter,
                url: self.parameters.url,
                message: "the message carries no payload, and a \(type) is needed"
            )
        }
        guard let value = payload as? Value else {
            throw .typeMismatch(url: self.parameters.url, wanted: type, found: payload)
        }
        return value
    }
}

extension Message: CustomStringConvertible {
    /// One readable line: ID, URL, and what it answers.
    public var description: String {
        let answer = self.correlationID.map { " answering \($0)" } ?? ""
        return "message \(self.id) to \(self.parameters.url)\(answer)".onOneLine
    }
}

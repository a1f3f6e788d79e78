internal import WaybillRouting

/// How a message ended; every message has exactly one outcome.
///
/// It is not an enumeration: to ask one for its case copies a value of any type, which takes longer than most
/// handlers.
@usableFromInline
struct Outcome: Sendable {
    /// The value of the reply; nil if there is none, or if the handler has given it to the caller.
    private let box: (any Sendable)?
    /// The reason that there is no reply, or nil.
    let failure: RoutingError?

    /// A reply with a value; nil if the caller has it already.
    @inline(__always)
    static func replied(_ value: consuming (any Sendable)?) -> Self { Self(box: value, failure: nil) }

    /// The reason that there is no reply.
    @inline(__always)
    static func failed(_ error: RoutingError) -> Self { Self(box: nil, failure: error) }

    /// Whether there is a reply.
    @inline(__always)
    var isReply: Bool { self.failure == nil }

    /// The value of the reply, whatever its type is, or the failure.
    var result: Result<any Sendable, RoutingError> {
        if let failure { .failure(failure) } else { .success(self.box ?? ()) }
    }

    /// Returns the value, whatever its type is.
    ///
    /// - Throws: The failure.
    @inline(__always)
    func value() throws(RoutingError) -> any Sendable {
        if let failure { throw failure }
        return self.box ?? ()
    }

    /// Returns the value as the type that the caller needs.
    ///
    /// - Throws: The failure, or `typeMismatch`.
    func value<Value: Sendable>(as type: Value.Type, url: String) throws(RoutingError) -> Value {
        if let failure { throw failure }
        let box = self.box ?? ()
        guard let value = converted(box, to: type) else {
            throw .typeMismatch(url: url, wanted: type, found: box)
        }
        return value
    }
}

extension Outcome {
    /// The counter that an outcome belongs to.
    enum Kind {
        case replied
        case failed
        case expired
        case cancelled
        case deadLettered

        init(_ code: RoutingError.Code) {
            switch code {
            case .deadlineExceeded: self = .expired
            case .cancelled: self = .cancelled
            case .invalidURL, .noRoute, .noHandler, .mailboxFull, .hopLimitExceeded, .shutDown:
                self = .deadLettered
            default: self = .failed
            }
        }
    }
}

/// Returns a value that travelled as `any Sendable` as the type that its receiver asks for; nil if it is not
/// of that type.
///
/// A receiver that asks for `Void` discards the value. Everything else is what `as?` does: an Optional is
/// wrapped and unwrapped as needed, and an existential accepts each type that conforms. A value that came as
/// bytes is decoded.
func converted<Value>(_ value: any Sendable, to type: Value.Type) -> Value? {
    // Not `() as? Value`, which succeeds for every type that `Void` can be converted to, `any Sendable` for
    // one.
    if Value.self == Void.self { return () as? Value }
    guard let result = value as? Value else { return EncodedValues.value(in: value, as: type) }
    return EncodedValues.isUnconstrained(type) ? EncodedValues.plain(value) as? Value : result
}

public import WaybillRouting

/// How a message ended; every message has exactly one outcome.
@usableFromInline
enum Outcome: Sendable {
    case replied(any Sendable)
    case failed(RoutingError)
}

extension Outcome {
    @inline(__always)
    var isReply: Bool { if case .replied = self { true } else { false } }

    /// Returns the value, whatever its type is.
    ///
    /// - Throws: The failure.
    @inline(__always)
    consuming func value() throws(RoutingError) -> any Sendable {
        switch self {
        case .replied(let value): return value
        case .failed(let error): throw error
        }
    }

    /// Returns the value as the type that the caller needs.
    ///
    /// - Throws: The failure, or `typeMismatch`.
    func value<Value: Sendable>(as type: Value.Type, url: String) throws(RoutingError) -> Value {
        switch self {
        case .replied(let value):
            guard let value = converted(value, to: type) else {
                throw .typeMismatch(url: url, wanted: type, found: value)
            }
            return value
        case .failed(let error): throw error
        }
    }

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

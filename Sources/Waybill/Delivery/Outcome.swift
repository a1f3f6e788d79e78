internal import WaybillRouting

/// The one outcome of a message: a reply or a failure.
///
/// The type is not an enumeration, because reading the case of an enumeration copies its payload. Copying a
/// value of unknown type takes longer than most handlers.
@usableFromInline
struct Outcome: Sendable {
    /// The value of the reply; nil after a failure, and when the caller already has the value.
    private let box: (any Sendable)?
    /// The failure, or nil after a reply.
    let failure: RoutingError?

    /// Creates the outcome of a reply; `value` is nil when the caller already has the value.
    static func replied(_ value: consuming (any Sendable)?) -> Self { Self(box: value, failure: nil) }

    static func failed(_ error: RoutingError) -> Self { Self(box: nil, failure: error) }

    var isReply: Bool { self.failure == nil }

    var result: Result<any Sendable, RoutingError> {
        if let failure { .failure(failure) } else { .success(self.box ?? ()) }
    }

    /// Returns the value in a box, or throws the failure.
    func value() throws(RoutingError) -> any Sendable {
        if let failure { throw failure }
        return self.box ?? ()
    }

    /// Returns the value as the type that the caller needs, or throws the failure or `typeMismatch`.
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
    /// The counter of the statistics in which an outcome is counted.
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

/// Returns a boxed value as the type that its receiver needs, or nil when the value cannot be converted.
///
/// A receiver of type `Void` discards the value. Other types are converted as `as?` does: an Optional is
/// wrapped or unwrapped, and an existential accepts each type that conforms to its protocols. A value that
/// was received as bytes is decoded.
func converted<Value>(_ value: any Sendable, to type: Value.Type) -> Value? {
    // The test `() as? Value` would also succeed for other types to which `Void` converts, such as
    // `any Sendable`.
    if Value.self == Void.self { return () as? Value }
    guard let result = value as? Value else { return EncodedValues.value(in: value, as: type) }
    return EncodedValues.isUnconstrained(type) ? EncodedValues.plain(value) as? Value : result
}

/// Returns the value of a box if its type is exactly `type`, and otherwise the value of a closure.
///
/// `as?` calls the runtime, which takes as long as all other steps of a value's delivery together. A result
/// of the type `Value?` would cost nearly as much, because a generic function looks that type up.
@inline(__always)
func unbox<Value: Sendable>(
    _ box: any Sendable,
    as type: Value.Type,
    otherwise convert: () throws(RoutingError) -> Value
) throws(RoutingError) -> Value {
    func open<Boxed: Sendable>(_ value: Boxed) throws(RoutingError) -> Value {
        guard Boxed.self == Value.self else { return try convert() }
        // The two types are equal, but the compiler cannot know it.
        return unsafe unsafeBitCast(value, to: Value.self)
    }
    return try open(box)
}

public import WaybillRouting

/// How a message ended; every message has exactly one.
@usableFromInline
enum Outcome: Sendable {
    case replied(any Sendable)
    case failed(RoutingError)
}

extension Outcome {
    /// The value, as the type that the caller needs.
    @inline(__always)
    func value<Value: Sendable>(as type: Value.Type, url: String) throws(RoutingError) -> Value {
        switch self {
        case .replied(let value):
            // A caller that asks for nothing discards what there is.
            if let nothing = () as? Value { return nothing }
            guard let value = value as? Value else {
                throw .typeMismatch(url: url, wanted: type, found: value)
            }
            return value
        case .failed(let error): throw error
        }
    }
}

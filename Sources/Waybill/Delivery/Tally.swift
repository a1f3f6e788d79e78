internal import WaybillRouting

/// The column of the books that an outcome belongs in.
enum Tally {
    case replied
    case failed
    case expired
    case cancelled
    case deadLettered

    init(_ outcome: Outcome) {
        switch outcome {
        case .replied: self = .replied
        case .failed(let error): self = Self(error.code)
        }
    }

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

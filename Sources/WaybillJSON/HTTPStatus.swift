package import WaybillRouting

extension RoutingError.Code {
    /// The HTTP status that corresponds to the code.
    package var httpStatus: Int {
        switch self {
        case .invalidURL, .missingParameter, .invalidParameter: 400
        case .refused: 403
        case .noRoute: 404
        case .mailboxFull: 429
        case .cancelled: 499
        case .unreachable: 502
        case .shutDown, .noHandler: 503
        case .deadlineExceeded: 504
        case .deadlock, .hopLimitExceeded, .infiniteRecursion: 508
        default: 500
        }
    }
}

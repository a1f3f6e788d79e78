#if Tool
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting
internal import WaybillServe

/// A request that failed, as a command says it: what happened, and what to do about it.
struct RequestFailure {
    /// The line on standard error.
    let line: String
    /// The exit status: 69 without a connection, 77 if the server does not admit, 124 if the time is up, 1
    /// for every other answer that is an error.
    let status: Int32

    static let unavailable: Int32 = 69
    static let notAdmitted: Int32 = 77
    static let timedOut: Int32 = 124

    init(_ error: RPCRequestError, _ address: ServerAddress) {
        let advice = Self.advice(error, address)
        let reference = error.reference.map { " (reference \($0))" } ?? ""
        self.line =
            "\(error.code): \(error.message)\(reference)" + (advice.map { "; \($0)" } ?? "")
        self.status = Self.status(of: error.code)
    }

    /// The exit status of a command whose request has failed with a code.
    static func status(of code: RoutingError.Code) -> Int32 {
        switch code {
        case .unreachable: Self.unavailable
        case .refused: Self.notAdmitted
        case .deadlineExceeded: Self.timedOut
        default: 1
        }
    }

    private static func advice(_ error: RPCRequestError, _ address: ServerAddress) -> String? {
        switch error.code {
        case .unreachable:
            if let code = error.streamError?.code, code == .system || code == .refused {
                return "nothing listens there: is the server running, and is the address right?"
            }
            return error.streamError?.code.advice
        case .refused:
            return "if the server wants a token, give --token-file or set \(ConnectionOptions.tokenVariable)"
        case .noRoute:
            if error.message.contains("did you mean") { return nil }
            if let nearest = error.suggestions.first { return "did you mean \(nearest)?" }
            return "what is not exposed looks the same: `waybill routes --connect \(address.argument)`"
        case .handlerFailed where error.reference != nil: return "the server's log has the cause"
        case .mailboxFull: return "try again later"
        default: return nil
        }
    }
}
#endif

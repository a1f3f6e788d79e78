#if Tool
internal import ArgumentParser
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting
internal import WaybillServe

/// The report of a failed request: the error, and advice for the user.
struct RequestFailure {
    /// The line on standard error.
    let line: String
    /// The exit status: 69 without a connection, 77 if access is refused, 124 after the deadline, else 1.
    let status: Int32

    /// The server or cluster to which the request was sent.
    enum Target {
        case server(ServerAddress)
        /// A cluster on NATS; `hasNodes` is whether any other node is in the realm.
        case cluster(realm: String, hasNodes: Bool)
    }

    static let unavailable: Int32 = 69
    static let notAdmitted: Int32 = 77
    static let timedOut: Int32 = 124

    init(_ error: RPCRequestError, _ target: Target) {
        let advice =
            switch target {
            case .server(let address): Self.advice(error, address)
            case .cluster(let realm, let hasNodes): Self.advice(error, realm: realm, hasNodes: hasNodes)
            }
        let reference = error.reference.map { " (reference \($0))" } ?? ""
        self.line =
            "\(error.code): \(error.message)\(reference)" + (advice.map { "; \($0)" } ?? "")
        self.status = Self.status(of: error.code)
    }

    /// Returns the exit status of a command whose request failed with a code.
    static func status(of code: RoutingError.Code) -> Int32 {
        switch code {
        case .unreachable: Self.unavailable
        case .refused: Self.notAdmitted
        case .deadlineExceeded: Self.timedOut
        default: 1
        }
    }

    /// Runs requests; after a failure, writes a line to standard error and throws the exit status.
    static func report<Result>(
        _ target: @autoclosure () throws -> Target,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as RPCRequestError {
            let failure = Self(error, try target())
            Output.complain(failure.line)
            throw ExitCode(failure.status)
        }
    }

    private static func advice(_ error: RPCRequestError, realm: String, hasNodes: Bool) -> String? {
        switch error.code {
        case .noRoute where !hasNodes: "no other node is in the realm \(realm)"
        case .noRoute where !error.message.contains("did you mean"):
            "a route that is not shared gives the same error; list the shared routes with `waybill nodes`"
        case .unreachable where !hasNodes: "check that a NATS server runs at this URL"
        case .refused where !hasNodes:
            "if the server requires a user, pass --credentials or nats://USER:PASSWORD@HOST:PORT"
        case .mailboxFull: "try again later"
        default: nil
        }
    }

    private static func advice(_ error: RPCRequestError, _ address: ServerAddress) -> String? {
        switch error.code {
        case .unreachable:
            if let code = error.streamError?.code, code == .system || code == .refused {
                return "no server listens at this address: check that the program runs, and check the address"
            }
            return error.streamError?.code.advice
        case .refused:
            return
                "if the server requires a token, pass --token-file or set \(ConnectionOptions.tokenVariable)"
        case .noRoute:
            if error.message.contains("did you mean") { return nil }
            if let nearest = error.suggestions.first { return "did you mean \(nearest)?" }
            return
                "a URL that is not exposed gives the same error; list the exposed URLs with `waybill routes --connect \(address.argument)`"
        case .handlerFailed where error.reference != nil: return "the server's log has the cause"
        case .mailboxFull: return "try again later"
        default: return nil
        }
    }
}
#endif

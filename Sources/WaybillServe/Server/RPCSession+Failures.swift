internal import Logging
internal import Waybill
internal import WaybillJSON
package import WaybillRouting

// Errors in the form that the peer receives.
extension RPCSession {
    /// Returns the failure that the peer receives for an error, and logs the cause of the error.
    func failure(_ error: any Error) -> RPCFailure {
        if let failure = error as? RPCFailure { return failure }
        let error =
            error as? RoutingError
            ?? RoutingError(.handlerFailed, message: "the handler failed", cause: error)
        if self.audience == .nodes {
            var failure = RPCFailure(wholly: error)
            if error.code == .noRoute, error.route == nil {
                failure.suggestions = self.bus.explainExposed(error.url, to: .nodes).nearest
            }
            return failure
        }
        if let declared = DeclaredError(of: error) { return RPCFailure(declared, code: error.code) }
        guard error.code.sentenceForPeers != nil else {
            var failure = RPCFailure(error, reference: nil)
            if error.code == .noRoute { failure.suggestions = self.bus.explainExposed(error.url).nearest }
            return failure
        }
        let reference = String(UInt64.random(in: .min ... .max), radix: 16)
        var metadata = self.metadata("\(error)")
        metadata["reference"] = "\(reference)"
        self.logger.log(
            level: error.code == .handlerFailed ? .error : .info,
            "a request failed",
            metadata: metadata
        )
        return RPCFailure(error, reference: reference)
    }
}

extension RPCFailure {
    /// Creates the failure that a peer receives for an error.
    init(_ error: RoutingError, reference: String?) {
        self.init(
            code: error.code.rpcCode,
            message: error.code.sentenceForPeers ?? error.message,
            name: error.code.description,
            reference: reference
        )
    }

    /// The maximum length of a cause, in characters.
    ///
    /// A longer cause could make the message too large to be sent.
    private static let causeLimit = 1000

    /// Creates the failure that a node of the same cluster receives for an error.
    ///
    /// The failure contains all details of the error.
    package init(wholly error: RoutingError) {
        self.init(code: error.code.rpcCode, message: error.message, name: error.code.description)
        self.route = error.route
        self.module = error.module
        self.cause = error.shownCause.map { SafeText.line("\($0)", limit: Self.causeLimit) }
        self.declared = DeclaredError(of: error)
    }

    /// Creates a failure from an error that the module of the route has declared for its callers.
    init(_ declared: DeclaredError, code: RoutingError.Code) {
        self.init(code: code.rpcCode, message: declared.message, name: code.description)
        self.declared = declared
    }

    /// Creates the failure that a peer receives for a frame that is not JSON.
    init(_ error: JSONError) {
        self.init(code: Self.parseError, message: "the message is rejected: \(error)")
    }
}

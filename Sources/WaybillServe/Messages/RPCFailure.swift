internal import WaybillJSON
package import WaybillRouting

/// The error object of a response.
package struct RPCFailure: Error, Sendable {
    package let code: Int
    package let message: String
    /// The name of the bus's error code; nil if the failure has no such code.
    var name: String?
    /// The exposed patterns that are similar to the URL.
    var suggestions: [String] = []
    /// The text with which the cause of the failure can be found in the server's log.
    var reference: String?
    /// The pattern of the failed route.
    ///
    /// Only nodes of a cluster send this pattern and the module.
    var route: String?
    var module: String?
    /// The underlying error, as text.
    var cause: String?
    /// The error that the module of the route has declared for its callers.
    var declared: DeclaredError?

    static let parseError = -32700
    static let invalidRequest = -32600
    static let methodNotFound = -32601
    static let invalidParameters = -32602
    static let internalError = -32603

    /// Returns the failure of a protocol method whose parameters are not valid.
    static func parameters(_ message: String) -> Self {
        RPCFailure(code: Self.invalidParameters, message: message, name: "invalidParameter")
    }

    /// Returns the failure of a message that is not a valid request.
    static func invalid(_ message: String) -> Self {
        RPCFailure(code: Self.invalidRequest, message: message)
    }

    /// The failure of a request whose URL matches no route of any node in the cluster.
    package static var unrouted: Self {
        RPCFailure(
            code: RoutingError.Code.noRoute.rpcCode,
            message: "no node of the cluster has a route for this URL",
            name: RoutingError.Code.noRoute.description
        )
    }

    /// Returns the failure of a request that exceeds a limit of the server.
    static func limit(_ message: String) -> Self {
        RPCFailure(code: RoutingError.Code.mailboxFull.rpcCode, message: message, name: "mailboxFull")
    }

    /// Whether the peer has refused the message or the connection.
    var isRefusal: Bool { self.code == RoutingError.Code.refused.rpcCode }

    /// The failure that replaces a message when too many bytes wait to be sent.
    package static let overflow = Self.limit("too many bytes are waiting to be sent")
}

extension RoutingError.Code {
    /// The code in a JSON-RPC response.
    ///
    /// Several codes share a number that JSON-RPC defines. The member `data.code` names the exact code.
    var rpcCode: Int {
        switch self {
        case .invalidURL: RPCFailure.invalidRequest
        case .noRoute: RPCFailure.methodNotFound
        case .missingParameter, .invalidParameter: RPCFailure.invalidParameters
        case .handlerFailed: -32000
        case .noHandler: -32001
        case .refused: -32002
        case .deadlineExceeded: -32003
        case .cancelled: -32004
        case .mailboxFull: -32005
        case .deadlock: -32006
        case .hopLimitExceeded: -32007
        case .unreachable: -32008
        case .shutDown: -32009
        case .infiniteRecursion: -32012
        default: RPCFailure.internalError
        }
    }

    /// Creates a code from the number in a response that does not name the exact code.
    init(rpcCode: Int) {
        switch rpcCode {
        case RPCFailure.methodNotFound: self = .noRoute
        case RPCFailure.invalidParameters: self = .invalidParameter
        case RPCFailure.invalidRequest: self = .invalidURL
        default: self = Self.all.first { $0.rpcCode == rpcCode && rpcCode > -32100 } ?? .handlerFailed
        }
    }

    /// The sentence that a peer receives instead of the error's message; nil if the peer receives the
    /// message.
    ///
    /// A code has a sentence if the messages of its errors may reveal details of the program.
    var sentenceForPeers: String? {
        switch self {
        case .invalidURL, .noRoute, .refused, .missingParameter, .invalidParameter, .deadlineExceeded,
            .cancelled, .hopLimitExceeded:
            nil
        case .noHandler: "the handler no longer exists"
        case .mailboxFull: "too many messages wait for the handler"
        case .unreachable: "the handler cannot be reached"
        case .shutDown: "the server is shutting down"
        case .handlerFailed: "the handler failed"
        case .deadlock, .infiniteRecursion: "the handler would wait for itself"
        default: "the server could not handle the request"
        }
    }
}

extension JSONWriter {
    /// Appends a failure as the error object of JSON-RPC.
    mutating func failure(_ failure: RPCFailure) {
        self.raw("{\"code\":\(failure.code),\"message\":")
        self.string(failure.message)
        if failure.name != nil || failure.reference != nil {
            self.raw(",\"data\":{")
            self.name("code", isFirst: true)
            self.string(failure.name ?? "internal")
            if !failure.suggestions.isEmpty {
                self.name("suggestions")
                self.raw("[")
                for (index, text) in failure.suggestions.enumerated() {
                    if index > 0 { self.raw(",") }
                    self.string(text)
                }
                self.raw("]")
            }
            for (name, text) in [
                ("reference", failure.reference), ("route", failure.route), ("module", failure.module),
                ("cause", failure.cause),
            ] {
                guard let text else { continue }
                self.name(name)
                self.string(text)
            }
            if let declared = failure.declared {
                self.name("error")
                self.raw(declared.json)
            }
            self.raw("}")
        }
        self.raw("}")
    }
}

extension RPCFailure {
    /// Creates a failure from the error member of a response.
    init(_ text: JSONText) {
        let members = Dictionary((text.members ?? []).map { ($0.name, $0.value) }) { first, _ in first }
        let data = Dictionary((members["data"]?.members ?? []).map { ($0.name, $0.value) }) { first, _ in
            first
        }
        let message = members["message"]?.string ?? "the peer gave no reason"
        self.init(
            code: members["code"]?.int ?? Self.internalError,
            message: message,
            name: data["code"]?.string,
            suggestions: data["suggestions"]?.elements?.compactMap(\.string) ?? [],
            reference: data["reference"]?.string,
            route: data["route"]?.string,
            module: data["module"]?.string,
            cause: data["cause"]?.string,
            declared: data["error"].flatMap { DeclaredError($0, message: message) }
        )
    }

    /// Returns the failure as an error of the bus for a URL.
    package func routingError(url: String) -> RoutingError {
        let named = self.name.flatMap { RoutingError.Code(named: $0) }
        let reference = self.reference.map { " (reference \($0))" } ?? ""
        return RoutingError(
            named ?? RoutingError.Code(rpcCode: self.code),
            url: url,
            message: self.message + reference,
            cause: self.declared ?? self.cause.map { RPCCause(description: $0) }
        ).at(route: self.route, module: self.module)
    }
}

/// The underlying error of a failure on another node.
struct RPCCause: Error, CustomStringConvertible {
    let description: String
}

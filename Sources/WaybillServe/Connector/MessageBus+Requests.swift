package import Waybill
internal import WaybillJSON
internal import WaybillRouting

// Requests from programs that have a bus but handle values only as JSON, such as the command-line tool.
extension MessageBus {
    /// Routes a URL with JSON parameters, and waits for the reply.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - options: The parameters, the headers, the time limit and the closure for progress replies.
    /// - Returns: The reply, as JSON.
    /// - Throws: The errors of `options.progress`, and ``RPCRequestError``.
    package nonisolated(nonsending) func request(
        _ url: String,
        _ options: RPCRequestOptions
    ) async throws -> String {
        var parameters: [String: any Sendable] = [:]
        for (name, value) in try options.members() { parameters[name] = value }
        var objection: (any Error)?
        do {
            let value: any Sendable
            if let progress = options.progress {
                value = try await self.route(
                    url,
                    parameters: parameters,
                    headers: options.headers,
                    timeout: options.timeLeft,
                    as: (any Sendable).self
                ) { (update: JSONText) async throws -> JSONText in
                    do {
                        let answer = try await progress(String(decoding: update.slice, as: UTF8.self))
                        return try RPCRequestOptions.json(answer, "the answer")
                    } catch {
                        objection = error
                        throw error
                    }
                }
            } else {
                value = try await self.route(
                    url,
                    parameters: parameters,
                    headers: options.headers,
                    timeout: options.timeLeft,
                    as: (any Sendable).self
                )
            }
            return String(decoding: try JSONText(encoding: value).slice, as: UTF8.self)
        } catch {
            throw objection ?? RPCRequestError(error)
        }
    }
}

extension RPCRequestError {
    /// Creates an error from the failure of a message, including its cause.
    ///
    /// The error shows the cause, because a program that sends requests to a cluster is itself a node of the
    /// cluster.
    init(_ error: RoutingError) {
        self.init(error.code, error.message + (error.shownCause.map { ": \($0)" } ?? ""))
    }
}

package import Waybill
internal import WaybillJSON
internal import WaybillRouting

// Requests of programs that know the values as JSON only, such as the command line, over what a bus has
// joined.
extension MessageBus {
    /// Routes a URL with JSON parameters, and waits for the reply.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - options: The options of the request.
    /// - Returns: The reply, as JSON.
    /// - Throws: The error of `options.progress`, or ``RPCRequestError``.
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
    /// The failure of a message, with its cause: a program that asks a cluster is a node of it.
    init(_ error: RoutingError) {
        self.init(error.code, error.message + (error.shownCause.map { ": \($0)" } ?? ""))
    }
}

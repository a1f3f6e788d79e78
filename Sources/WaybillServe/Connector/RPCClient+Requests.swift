internal import Waybill
package import WaybillEventLoop
package import WaybillJSON
package import WaybillRouting

/// The options of a request from a program that handles values only as JSON.
package struct RPCRequestOptions: Sendable {
    /// The parameters, as the text of a JSON object or array.
    package var parameters = "{}"
    /// The headers, which are meant for the infrastructure of the server.
    package var headers: [String: String] = [:]
    /// The time to wait for the answer; nil for no limit.
    package var timeLeft: Duration?
    /// A closure that receives each progress reply as JSON and returns the answer as JSON.
    ///
    /// If the value is nil, the server sends no progress replies.
    package var progress: (@Sendable (String) async throws -> String)?

    package init() {}
}

/// The failure of a request, with the details that the server sent.
package struct RPCRequestError: Error {
    package let code: RoutingError.Code
    package let message: String
    /// The exposed patterns that are similar to the URL.
    package var suggestions: [String] = []
    /// The text with which the cause of the failure can be found in the server's log.
    package var reference: String?
    /// The connection error; nil if the failure has another reason.
    package var streamError: StreamError?

    package init(_ code: RoutingError.Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

// Requests from programs without a bus, such as the command-line tool.
extension RPCClient {
    /// Creates a client with its own event loop.
    ///
    /// The client connects when it sends its first request.
    package init(_ address: StreamAddress, _ configuration: RPCConnector.Configuration) {
        self.init(address, configuration, on: nil)
    }

    /// Sends a request, and waits for the response.
    ///
    /// - Parameters:
    ///   - method: A URL, or a method of the protocol.
    ///   - options: The parameters, the headers, the time limit and the closure for progress replies.
    /// - Returns: The result, as JSON.
    /// - Throws: `CancellationError` when the caller is cancelled, the errors of `options.progress`, and
    ///   ``RPCRequestError``.
    package func request(
        _ method: String,
        _ options: RPCRequestOptions = RPCRequestOptions()
    ) async throws -> String {
        let request = try RawRequest(method, options)
        // The server also has the deadline. During the extra time, the error of the server itself can arrive.
        let wait = options.timeLeft.map { $0 + .milliseconds(250) }
        let deadline = wait.map { Deadline(after: $0, by: self.eventLoop.time) } ?? .never
        let channel: FrameChannel
        do throws(RoutingError) {
            channel = try await self.reach(until: deadline)
        } catch {
            var failure = RPCRequestError(error.code, error.message)
            failure.streamError = error.cause as? StreamError
            throw failure
        }
        if let overflow = self.overflow(of: channel) { throw RPCRequestError(.mailboxFull, overflow) }
        let id = self.pending.open()
        defer { self.pending.close(id) }
        let timer = self.schedule(at: deadline) { $0.deliver(.finished(.failure(Self.timedOut)), to: id) }
        defer { timer?.cancel() }
        channel.enqueue(request.text(id))
        channel.flushSoon()
        self.watchServer()
        while true {
            switch await self.next(id) {
            case .progress(let value): try await self.answer(id, value: value, options.progress)
            case .returned: break
            case .finished(.success(let value)): return String(decoding: value.slice, as: UTF8.self)
            case .finished(.failure(let failure)): throw RPCRequestError(failure)
            case .lost(let reason):
                throw RPCRequestError(.unreachable, "\(self.address): \(reason)")
            case .cancelled:
                self.notify(.cancelRequest, id: id, answer: nil)
                self.channel?.flushSoon()
                throw CancellationError()
            }
        }
    }

    private static var timedOut: RPCFailure {
        RPCFailure(
            code: RoutingError.Code.deadlineExceeded.rpcCode,
            message: "the server did not answer in time",
            name: RoutingError.Code.deadlineExceeded.description
        )
    }

    /// Connects to the server, unless the client is connected already.
    private func reach(until deadline: Deadline) async throws(RoutingError) -> FrameChannel {
        do {
            return try await self.connect(for: "", until: deadline)
        } catch let error as RoutingError {
            throw error
        } catch {
            throw RoutingError(.cancelled, message: "the caller was cancelled", cause: error)
        }
    }

    private func answer(
        _ id: Int,
        value: JSONText,
        _ progress: (@Sendable (String) async throws -> String)?
    ) async throws {
        let answer = try await progress?(String(decoding: value.slice, as: UTF8.self)) ?? "null"
        self.notify(.answer, id: id, answer: .success(try RPCRequestOptions.json(answer, "the answer")))
        self.channel?.flushSoon()
    }

    /// Closes the connection, and sets the closure that receives the messages of later subscriptions.
    ///
    /// A subscription of the closed connection could otherwise deliver its messages to the closure. The next
    /// request connects again.
    ///
    /// Each message is a JSON object with `url`, `parameters` and the attachment of the message. The closure
    /// receives nil when the connection or a subscription has ended.
    ///
    /// While the closure runs, the client does not read from the connection. If the closure is slow, the
    /// server drops the oldest messages of the subscription, so messages do not accumulate on either side.
    package func takeMessages(_ body: @escaping @Sendable (String?) async -> Void) {
        if let channel { self.lose(channel, "the client uses a new connection for its subscriptions") }
        self.subscriber = body
    }

    /// Returns the message of a subscription as JSON, without the number of the subscription.
    ///
    /// The inner optional is nil when a subscription has ended. The outer optional is nil for any other
    /// message.
    func subscribed(_ message: RPCMessage) -> String?? {
        guard case .notification(let method, let params?) = message.content else { return .none }
        if method == SystemMethod.unsubscribe.rawValue { return .some(nil) }
        guard method == SystemMethod.message, params.isObject else { return .none }
        var writer = JSONWriter(capacity: params.text.range.count)
        writer.raw("{")
        var isFirst = true
        params.forEachChild { member in
            if member.isNamed("subscription") { return }
            writer.name(member.name, isFirst: isFirst)
            writer.raw(member.text)
            isFirst = false
        }
        writer.raw("}")
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension RPCRequestError {
    init(_ failure: RPCFailure) {
        let error = failure.routingError(url: "")
        self.init(error.code, failure.message)
        self.suggestions = failure.suggestions
        self.reference = failure.reference
    }
}

extension RPCRequestOptions {
    /// The maximum depth of nested arrays and objects in values that a person writes.
    private static let depth = 256

    /// Returns the parameters by name.
    ///
    /// The elements of an array have their positions as names.
    ///
    /// - Throws: ``RPCRequestError`` with the code `invalidParameter` if the parameters are not a JSON object
    ///   or array, or contain the reserved key.
    func members() throws(RPCRequestError) -> [(name: String, value: JSONText)] {
        let parameters = try Self.json(self.parameters, "the parameters")
        guard parameters.member(named: RPCParameters.reservedKey) == nil else {
            throw Self.invalid("the parameter \(RPCParameters.reservedKey) is reserved")
        }
        if let members = parameters.members { return members }
        guard let elements = parameters.elements else {
            throw Self.invalid("the parameters must be a JSON object or array")
        }
        return elements.enumerated().map { (String($0.offset), $0.element) }
    }

    /// Returns a text as JSON, or throws an error that contains `name`.
    package static func json(_ text: String, _ name: String) throws(RPCRequestError) -> JSONText {
        do throws(JSONError) {
            return try JSONText(Array(text.utf8)).validated(depthLimit: Self.depth)
        } catch {
            throw Self.invalid("\(name): \(error): `\(text)`")
        }
    }

    private static func invalid(_ message: String) -> RPCRequestError {
        RPCRequestError(.invalidParameter, message)
    }
}

/// A request whose parameters a person has written.
private struct RawRequest {
    private let method: String
    private let parameters: [(name: String, value: JSONText)]
    private let attachment: RPCAttachment

    /// Creates a request, or throws `invalidParameter` if the parameters are not valid.
    init(_ method: String, _ options: RPCRequestOptions) throws(RPCRequestError) {
        self.method = method
        self.parameters = try options.members()
        var attachment = RPCAttachment()
        attachment.headers = options.headers
        attachment.timeLeft = options.timeLeft
        attachment.wantsProgress = options.progress != nil
        attachment.answersProgress = options.progress != nil
        self.attachment = attachment
    }

    /// Returns the text of the request.
    func text(_ id: Int) -> [UInt8] {
        var writer = JSONWriter(capacity: 128)
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":")
        writer.string(self.method)
        writer.raw(",\"params\":{")
        var isFirst = true
        for (name, value) in self.parameters {
            writer.name(name, isFirst: isFirst)
            writer.raw(value)
            isFirst = false
        }
        writer.attachment(self.attachment, isFirst: isFirst)
        writer.raw("}}")
        return writer.bytes
    }
}

internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// A handler that waits for the peer's answer to a progress reply.
///
/// A progress reply is a value that a handler sends to the caller before its final reply.
struct AwaitedAnswer {
    let continuation: LoopContinuation<Result<JSONText, RoutingError>>
    let timer: ScheduledTimer?
}

// Progress replies, the answers to them, and values for the peer's return URLs.
extension RPCSession {
    /// Sends a progress reply, and waits for the answer if the peer answers progress replies.
    ///
    /// - Throws: `notTransferable` if the value cannot be encoded, the failure that the peer sends instead of
    ///   an answer, or an error if the answer does not arrive or the progress reply cannot be sent.
    func offer(
        _ value: any Sendable,
        number: ServedRequests.Number,
        id: RPCID,
        attachment: RPCAttachment,
        deadline: ContinuousClock.Instant?
    ) async throws -> any Sendable {
        var writer = JSONWriter()
        writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"\(SystemMethod.progress)\",\"params\":{\"id\":")
        writer.id(id)
        writer.name("value")
        let text = try self.encoded(value)
        if let error = self.channel.objection(toEarly: text) { throw error }
        writer.raw(text)
        if self.tellsTypes { writer.raw(text.typeNote) }
        writer.raw("}}")
        guard self.isAwaited(attachment) else {
            guard self.enqueue(writer.bytes) else { throw RPCFailure.overflow.routingError(url: "") }
            await self.channel.flush()
            return ()
        }
        switch await self.awaitAnswer(to: writer.bytes, number, until: deadline) {
        case .success(let answer): return answer
        // The peer's caller does not handle progress replies. In that case, `noListener` returns, or throws
        // its error if the handler needs an answer.
        case .failure(let error) where error.code == .noHandler: return try await noListener(value)
        case .failure(let error): throw error
        }
    }

    /// Returns whether a handler waits for the answer to a progress reply.
    ///
    /// A client on NATS may disappear without notice, and may claim to be a node. The handler waits for the
    /// answer of such a client only if the request has a time limit.
    private func isAwaited(_ attachment: RPCAttachment) -> Bool {
        attachment.answersProgress
            && (self.connection != nil || self.isOfMember || attachment.timeLeft != nil)
    }

    private func awaitAnswer(
        to progress: [UInt8],
        _ number: ServedRequests.Number,
        until deadline: ContinuousClock.Instant?
    ) async -> Result<JSONText, RoutingError> {
        let continuation = LoopContinuation<Result<JSONText, RoutingError>>(on: self.eventLoop)
        return await continuation.wait(isolation: self) {
            let timer = deadline.map { deadline in
                self.eventLoop.schedule(at: Deadline(deadline)) { [weak self] in
                    self?.assumeOnLoop { $0.giveUpAnswer(to: number, .deadlineExceeded) }
                }
            }
            self.awaitedAnswers[number] = AwaitedAnswer(continuation: continuation, timer: timer)
            if Task.isCancelled { self.giveUpAnswer(to: number, .cancelled) }
            // Send the progress reply after the continuation is stored, because the answer may arrive soon.
            if !self.enqueue(progress) {
                self.resume(number, with: .failure(RPCFailure.overflow.routingError(url: "")))
            }
            self.channel.flushSoon()
        } onCancel: {
            self.eventLoop.execute { self.assumeOnLoop { $0.giveUpAnswer(to: number, .cancelled) } }
        }
    }

    private func giveUpAnswer(to number: ServedRequests.Number, _ code: RoutingError.Code) {
        let error = RoutingError(code, message: "the caller did not answer the progress reply of the handler")
        self.resume(number, with: .failure(error))
    }

    @discardableResult
    private func resume(_ number: ServedRequests.Number, with answer: Result<JSONText, RoutingError>) -> Bool
    {
        guard let awaited = self.awaitedAnswers.removeValue(forKey: number) else { return false }
        awaited.timer?.cancel()
        awaited.continuation.resume(returning: answer)
        return true
    }

    /// Fails the progress reply of a handler whose answer cannot be read.
    func failAnswer(to id: RPCID, _ error: JSONError) {
        guard let number = self.requests.number(of: id) else { return }
        let message = "the answer of the caller cannot be read: \(error)"
        self.resume(number, with: .failure(RoutingError(.notTransferable, message: message)))
    }

    /// Delivers the answer to a progress reply, or the peer's failure, to the handler.
    ///
    /// - Returns: Whether a handler was waiting for the answer.
    func takeAnswer(_ parameters: RPCParameters) -> Bool {
        guard let number = parameters.requestID.flatMap({ self.requests.number(of: $0) }) else {
            return false
        }
        if let error = parameters["error"] {
            return self.resume(number, with: .failure(RPCFailure(error.text).routingError(url: "")))
        }
        return self.resume(number, with: .success(parameters["value"]?.kept ?? .null))
    }

    /// Sends the peer a value for a return URL that the peer gave.
    ///
    /// May be called from any thread. On the loop's thread, the value is sent before the response.
    nonisolated func takeReturn(
        _ url: String,
        value: any Sendable,
        headers: [String: String],
        id: RPCID?
    ) {
        if self.eventLoop.isInEventLoop {
            self.assumeOnLoop { $0.sendReturn(url, value: value, headers: headers, id: id) }
        } else {
            self.eventLoop.execute {
                self.assumeOnLoop { $0.sendReturn(url, value: value, headers: headers, id: id) }
            }
        }
    }

    private func sendReturn(_ url: String, value: any Sendable, headers: [String: String], id: RPCID?) {
        do {
            var attachment = RPCAttachment()
            attachment.headers = headers
            attachment.payload = try JSONText(encoding: value)
            var writer = JSONWriter()
            writer.raw("{\"jsonrpc\":\"2.0\",\"method\":")
            writer.string(url)
            writer.raw(",\"params\":{")
            if let id {
                writer.name("id", isFirst: true)
                writer.id(id)
            }
            writer.attachment(attachment, isFirst: id == nil)
            writer.raw("}}")
            // Check the whole message, which also contains the headers.
            if let error = self.channel.objection(toEarly: JSONText(writer.bytes)) { throw error }
            guard self.enqueue(writer.bytes) else { throw RPCFailure.overflow }
            self.channel.flushSoon()
        } catch {
            self.logger.notice("a value cannot be returned", metadata: self.metadata("\(error)"))
            // The caller waits for the value. Without this failure, the caller would assume that the handler
            // has declined to send a value.
            guard let number = id.flatMap({ self.requests.number(of: $0) }) else { return }
            self.fail(number, with: self.failure(error))
            self.tasks[number]?.cancel()
        }
    }
}

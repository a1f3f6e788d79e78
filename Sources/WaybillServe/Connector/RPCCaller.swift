package import Waybill
package import WaybillEventLoop
package import WaybillJSON
package import WaybillRouting

/// An actor that sends requests and handles the events of each request.
///
/// ``PendingRequests`` stores the open requests. This protocol contains the code that is the same for all
/// transports.
package protocol RPCCaller: LoopBound {
    var pending: PendingRequests { get set }

    /// Sends a notification about a request to the peer that handles the request.
    func notify(_ method: SystemMethod, id: Int, answer: Result<JSONText, RPCFailure>?)

    /// Returns the error for a request whose peer cannot be reached any more.
    func unreachable(_ url: String, reason: String, cause: (any Error)?) -> RoutingError

    /// Reports a problem that belongs to no open request, such as an error that the peer has sent.
    func note(objection: String)

    /// Reports a failure of the peer that belongs to no open request.
    func note(objection: RPCFailure)
}

extension RPCCaller {
    package func note(objection: RPCFailure) { self.note(objection: objection.message) }

    /// Waits for the reply to a request that has been sent.
    ///
    /// The method passes progress replies to the message's caller, and sends the caller's answers to the
    /// peer.
    package func converse(_ id: Int, message: Message, call: OutgoingCall) async throws -> any Sendable {
        let url = message.address.text
        var hasReturned = false
        while true {
            switch await self.next(id) {
            case .progress(let value):
                let answer = await Self.answer(of: message, to: value)
                // After a cancellation, send no answer. The answer would be a failure, and the handler would
                // receive this failure before its own cancellation.
                if !Task.isCancelled { self.notify(.answer, id: id, answer: answer) }
            case .returned(let value, let headers):
                hasReturned = true
                message.with(headers: headers).sendReturn(value)
            case .finished(.success(let value)):
                // The peer sent no value for the return URL, because the handler declined to send one, or
                // sent its value to another place.
                if call.hasReturnURL, !hasReturned { message.declineReturn() }
                return value
            case .finished(.failure(let failure)):
                let error = failure.routingError(url: url)
                // The peer's bus has shut down, but `shutDown` would refer to the bus of the caller.
                throw error.code == .shutDown
                    ? self.unreachable(url, reason: error.message, cause: nil) : error
            case .lost(let reason):
                // The handler is possibly still running.
                self.notify(.cancelRequest, id: id, answer: nil)
                throw self.unreachable(url, reason: reason, cause: nil)
            case .cancelled:
                self.notify(.cancelRequest, id: id, answer: nil)
                throw CancellationError()
            }
        }
    }

    /// Waits for the next event of a request.
    func next(_ id: Int) async -> PendingEvent {
        let waiter = LoopContinuation<PendingEvent>(on: self.eventLoop)
        return await waiter.wait(isolation: self) {
            if Task.isCancelled { self.deliver(.cancelled, to: id) }
            if let event = self.pending.take(id, waiter) { waiter.resume(returning: event) }
        } onCancel: {
            self.eventLoop.execute { self.assumeOnLoop { $0.deliver(.cancelled, to: id) } }
        }
    }

    /// Delivers an event to a request.
    package func deliver(_ event: PendingEvent, to id: Int) {
        guard let (waiter, event) = self.pending.deliver(event, to: id) else { return }
        waiter.resume(returning: event)
    }

    /// Returns the caller's answer to a progress reply.
    private static func answer(of message: Message, to value: JSONText) async -> Result<JSONText, RPCFailure>
    {
        do throws(RoutingError) {
            let answer = try await message.reply(with: value, expecting: (any Sendable).self)
            return .success(try JSONText(encoding: answer))
        } catch {
            return .failure(
                RPCFailure(
                    code: error.code.rpcCode,
                    message: error.message,
                    name: error.code.description
                )
            )
        }
    }
}

// Messages of the peer.
extension RPCCaller {
    /// Handles a message of the peer.
    package func take(_ message: RPCMessage) {
        switch message.content {
        case .result(.number(let id), let value): self.deliver(.finished(.success(value)), to: id)
        case .failure(.number(let id), let error):
            self.deliver(.finished(.failure(RPCFailure(error))), to: id)
        case .failure(_, let error): self.note(objection: RPCFailure(error))
        case .notification(let method, let params): self.take(method, params)
        case .invalid(.number(let id), _):
            let failure = RPCFailure(
                code: RPCFailure.internalError,
                message: "the response is neither a valid result nor a valid error"
            )
            self.deliver(.finished(.failure(failure)), to: id)
        case .request, .result, .invalid: break
        }
    }

    private func take(_ method: String, _ params: JSONNode?) {
        guard let id = params?["id"]?.text.int else { return }
        if method == SystemMethod.progress {
            self.deliver(.progress(params?["value"]?.kept ?? .null), to: id)
        } else if method == OutgoingCall.returnURL {
            guard self.pending.contains(id) else {
                return self.note(
                    objection: "a value for a return URL came after its request had ended, and is dropped"
                )
            }
            let attachment = (try? RPCParameters(params))?.attachment ?? RPCAttachment()
            self.deliver(.returned(attachment.payload ?? .null, headers: attachment.headers), to: id)
        }
    }
}

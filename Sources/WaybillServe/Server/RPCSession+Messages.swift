internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

extension RPCSession {
    /// Handles a frame.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - makeRecord: A closure that creates the record of a request that has been admitted, from the size
    ///     of the request in bytes. The session releases the record when the request has been answered.
    package func receive(_ frame: RPCFrame, recording makeRecord: (Int) -> (any RequestRecord)?) {
        let batch = self.beginBatch(frame)
        for message in frame.messages { self.handle(message, batch: batch, recording: makeRecord) }
    }

    /// Begins a batch, or rejects a frame that contains no messages.
    ///
    /// - Returns: The number of the batch; nil when the frame is not a batch.
    func beginBatch(_ frame: RPCFrame) -> Int? {
        switch frame {
        case .message: break
        case .malformed(let error, let id): self.reject(id, RPCFailure(error), batch: nil)
        case .largeBatch(let count):
            let limit = self.limits.messagesPerBatch
            let failure = RPCFailure.invalid("the batch has \(count) messages, but the limit is \(limit)")
            self.reject(.null, failure, batch: nil)
        case .batch(let messages):
            if !messages.isEmpty { return self.requests.beginBatch(of: messages.count) }
            self.reject(.null, .invalid("the batch is empty"), batch: nil)
        }
        return nil
    }

    /// Handles one message of a frame.
    ///
    /// The calls of ``connection`` apply to peers of a server. They do nothing for a peer in a cluster.
    func handle(
        _ message: RPCMessage,
        batch: Int?,
        recording makeRecord: (Int) -> (any RequestRecord)? = { _ in nil }
    ) {
        switch message.content {
        case .request where self.connection?.channel.isBroken == true:
            // The channel can no longer send an answer, so do not handle the request. Notifications need no
            // answer and are still handled.
            self.leaveOut(of: batch)
        case .request(let id, let method, let params):
            do throws(RPCFailure) {
                guard self.phase == .open || self.phase == .draining && SystemMethod.isAboutRequest(method)
                else {
                    throw RPCFailure(RoutingError(.shutDown, message: ""), reference: nil)
                }
                try self.connection?.checkToken(before: method)
                try self.connection?.checkRoom(for: message.size, in: self)
                let number = try self.requests.admit(
                    id,
                    bytes: message.size,
                    batch: batch,
                    record: makeRecord(message.size)
                )
                self.connection?.ledger.note { $0.requests += 1 }
                do throws(RPCFailure) {
                    let parameters = try RPCParameters(params)
                    if SystemMethod.isSystem(method) {
                        try self.perform(method, with: parameters, number: number)
                    } else {
                        try self.call(method, with: parameters, id: id, number: number)
                    }
                } catch {
                    self.fail(number, with: error)
                }
                self.connection?.countReceivedBytes(of: self)
            } catch {
                self.reject(id, error, batch: batch)
            }
        case .notification(let method, let params):
            self.notify(method, params, size: message.size, recording: makeRecord)
            self.leaveOut(of: batch)
        case .invalid(let id, let reason): self.reject(id, .invalid(reason), batch: batch)
        // The server sends no requests to a peer, and therefore ignores responses.
        case .result, .failure:
            self.connection?.closeUnlessAuthenticated(self)
            self.leaveOut(of: batch)
        }
    }

    /// Answers a message that was not admitted with a failure, and disconnects a peer that has not sent its
    /// token.
    private func reject(_ id: RPCID, _ failure: RPCFailure, batch: Int?) {
        let answer = Self.answer(to: id, failure)
        if let text = self.requests.add(answer, to: batch, isRejection: true) {
            self.send(text, to: id)
        } else {
            self.connection?.noteUnread(of: self)
        }
        if self.requests.hasManyRejections {
            self.connection?.end("too many messages of its unfinished batches were rejected", in: self)
        }
        self.connection?.closeUnlessAuthenticated(self)
        self.connection?.closeIfDrained(self)
    }

    /// Records that a message of a batch needs no answer.
    private func leaveOut(of batch: Int?) {
        if let text = self.requests.add(nil, to: batch) { self.send(text, to: .null) }
        self.connection?.closeIfDrained(self)
    }

    /// Routes an admitted request, and answers with the reply.
    private func call(
        _ url: String,
        with parameters: RPCParameters,
        id: RPCID,
        number: ServedRequests.Number
    ) throws(RPCFailure) {
        let attachment = parameters.attachment
        let request = self.request(
            url,
            values: parameters.values,
            attachment: attachment,
            from: self.peer(id)
        )
        try self.inTurn(number, deadline: request.deadline) { session, work in
            let rest: ExternalAttempt.Rest
            do throws(RoutingError) {
                switch try session.bus.begin(request.counted(by: work)) {
                case .replied(let value, _):
                    return session.reply(to: number, with: try session.encoded(value))
                case .pending(let pending): rest = pending
                }
            } catch {
                return session.fail(number, with: session.failure(error))
            }
            session.replyLater(to: number) { session in
                guard attachment.wantsProgress else {
                    return try session.encoded(await session.bus.reply(of: rest, onReply: nil).content)
                }
                let reply = try await session.bus.reply(of: rest) { value in
                    try await session.offer(
                        value,
                        number: number,
                        id: id,
                        attachment: attachment,
                        deadline: request.deadline
                    )
                }
                return try session.encoded(reply.content)
            }
        }
    }

    /// Code that begins to handle a call or message.
    ///
    /// The code passes the work to the bus. A message without a response has no number. The bus ends the
    /// first part of the work of such a message, or the code does if the bus rejects the message.
    typealias Start = @Sendable (isolated RPCSession, ExternalWork) -> Void

    /// Runs a call or message now, or, on a connection, later when the connection may run another call.
    ///
    /// `number` is nil for a message without a response, whose size in bytes is `bytes`. A waiting request
    /// fails at the deadline. The record is retained until the work of the message has ended.
    ///
    /// - Throws: The failure for the peer, when the waiting calls have reached a limit.
    func inTurn(
        _ number: ServedRequests.Number?,
        bytes: Int = 0,
        deadline: ContinuousClock.Instant? = nil,
        record: (any RequestRecord)? = nil,
        start: @escaping Start
    ) throws(RPCFailure) {
        if let connection {
            return try connection.inTurn(number, bytes: bytes, deadline: deadline, in: self, start: start)
        }
        guard let number else {
            return self.startWork(nil, ExternalWork { record?.end(failure: nil) }, start)
        }
        // The closure only retains the record until the work has ended.
        self.startWork(
            number,
            ExternalWork { [record = self.requests.record(of: number)] in _ = record },
            start
        )
    }

    /// Begins to handle a call or message.
    func startWork(_ number: ServedRequests.Number?, _ work: ExternalWork, _ start: Start) {
        if let number { self.openWork[number] = work }
        start(self, work)
    }

    /// Returns the request for the bus; `arrival` is nil for a message that has just arrived.
    func request(
        _ url: String,
        values: PassedValues?,
        attachment: RPCAttachment,
        from peer: ExternalRequest.Peer,
        arrivedAt arrival: ContinuousClock.Instant? = nil
    ) -> ExternalRequest {
        ExternalRequest(
            url: url,
            passed: values,
            headers: attachment.headers,
            deadline: attachment.timeLeft.map { (arrival ?? self.eventLoop.time.instant) + $0 },
            hops: attachment.hops,
            payload: attachment.payload,
            correlationID: attachment.correlationID,
            returnID: attachment.returnID.flatMap { self.audience == .nodes ? $0 : nil },
            from: peer
        )
    }

    /// Returns the peer for a request with an ID.
    ///
    /// The peer receives the values for the return URLs of the request.
    func peer(_ id: RPCID?) -> ExternalRequest.Peer {
        ExternalRequest.Peer(origin: self.origin, audience: self.audience) {
            [weak self] url, value, headers in self?.takeReturn(url, value: value, headers: headers, id: id)
        }
    }

    /// Runs `body` for a request and answers with the result.
    ///
    /// `body` runs in place until it suspends.
    func replyLater(
        to number: ServedRequests.Number,
        _ body: @escaping (isolated RPCSession) async throws -> JSONText
    ) {
        let work = self.openWork[number]
        work?.addPart()
        let task = Task.immediate {
            do {
                self.reply(to: number, with: try await body(self))
            } catch {
                self.fail(number, with: self.failure(error))
            }
            work?.endPart()
            if self.tasks.removeValue(forKey: number) != nil { self.channel.flushSoon() }
        }
        // If `requests` no longer contains the request, the session has answered it: either `body` has
        // returned, or the request has failed while `body` still runs. In the second case, cancel the task.
        guard let id = self.requests.id(of: number) else { return task.cancel() }
        self.tasks[number] = task
        self.channel.claim(id)
    }

    func cancel(_ number: ServedRequests.Number) {
        if let connection, connection.endWaiting(number, .cancelled, in: self) { return }
        // Without a task, the request is still running in place. In that case, no other code can run.
        self.tasks[number]?.cancel()
    }

    /// Returns a value as JSON for the peer.
    ///
    /// The JSON includes the name of the value's type if the peer receives type names.
    func encoded(_ value: any Sendable) throws(RoutingError) -> JSONText {
        self.tellsTypes ? try JSONText(notingTypeOf: value) : try JSONText(encoding: value)
    }

    /// Answers a request with a result, or with a failure if the result cannot be sent.
    func reply(to number: ServedRequests.Number, with result: JSONText) {
        guard let id = self.requests.id(of: number) else { return }
        if let error = self.channel.objection(to: result) {
            return self.fail(number, with: self.failure(error))
        }
        let limit = self.limits.unreadBytesOfAll / 2
        guard result.range.count <= limit || self.connection == nil else {
            return self.fail(number, with: .limit("the answer has more than \(limit) bytes"))
        }
        var writer = JSONWriter(capacity: result.range.count + 48)
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":")
        writer.id(id)
        writer.name("result")
        writer.raw(result)
        if self.tellsTypes { writer.raw(result.typeNote) }
        writer.raw("}")
        guard self.requests.hasRoom(for: writer.bytes, in: self.requests.batch(of: number)) else {
            let limit = self.limits.batchAnswerBytes
            let failure = RPCFailure.limit(
                "the answers of the batch exceed the limit of \(limit) bytes together"
            )
            return self.fail(number, with: failure)
        }
        self.settle(number, with: writer.bytes, failure: nil)
    }

    /// Answers an admitted request with a failure.
    func fail(_ number: ServedRequests.Number, with failure: RPCFailure) {
        guard let id = self.requests.id(of: number) else { return }
        let answer = Self.answer(to: id, failure)
        // An error can have details of any size, and can quote text of the peer that no node would read.
        guard let error = self.channel.objection(to: JSONText(answer)) else {
            return self.settle(number, with: answer, failure: failure)
        }
        let readable = self.failure(error)
        self.settle(number, with: Self.answer(to: id, readable), failure: readable)
    }

    /// Ends a request, and sends its answer or adds the answer to the batch of the request.
    private func settle(_ number: ServedRequests.Number, with answer: [UInt8], failure: RPCFailure?) {
        guard let request = self.requests.remove(number) else { return }
        request.record?.end(failure: failure?.message)
        self.connection?.ledger.note { $0.answers += 1 }
        let text = self.requests.add(answer, to: request.batch, retaining: request.record)
        if let text { self.send(text, to: request.id) }
        self.openWork.removeValue(forKey: number)?.endPart()
        guard let connection = self.connection else { return }
        // An answer that waits for the other answers of its batch also counts as unread.
        if text == nil { connection.noteUnread(of: self) }
        connection.countReceivedBytes(of: self)
        connection.closeIfDrained(self)
    }

    /// Enqueues an answer.
    ///
    /// The ID of an answer to a batch is ignored, because a batch has no ID.
    func send(_ answer: [UInt8], to id: RPCID) {
        defer { self.connection?.noteUnread(of: self) }
        if self.channel.enqueue(answer) { return }
        let isBatch = answer.first == UInt8(ascii: "[")
        self.channel.enqueue(Self.answer(to: isBatch ? .null : id, .overflow))
    }

    /// Enqueues a message about a request, counts it as unread, and returns whether the channel accepts it.
    func enqueue(_ message: [UInt8]) -> Bool {
        defer { self.connection?.noteUnread(of: self) }
        return self.channel.enqueue(message)
    }

    package static func answer(to id: RPCID, _ failure: RPCFailure) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":")
        writer.id(id)
        writer.name("error")
        writer.failure(failure)
        writer.raw("}")
        return writer.bytes
    }
}

internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

// Messages and their answers.
extension RPCSession {
    /// Takes what the peer has sent.
    func receive(_ frame: JSONText) { self.receive(RPCFrame(frame, depth: self.limits.depth)) }

    /// Takes a frame that has been read.
    package func receive(_ frame: RPCFrame) {
        switch frame {
        case .malformed(let error):
            self.enqueueAnswer(to: .null, RPCFailure(error))
        case .message(let message): self.handle(message)
        case .batch(let messages):
            if messages.isEmpty {
                self.enqueueAnswer(to: .null, .invalid("the batch is empty"))
                return
            }
            let batch = self.requests.beginBatch(of: messages.count)
            for message in messages { self.handle(message, batch: batch) }
        }
    }

    /// Takes a message.
    package func handle(_ message: RPCMessage, batch: Int? = nil) {
        switch message.content {
        case .request(let id, let method, let params): self.accept(id, method, params, batch)
        case .notification(let method, let params):
            self.notify(method, params)
            self.enqueue(self.requests.add(nil, to: batch))
        case .invalid(let id, let reason):
            self.enqueue(self.requests.add(Self.answer(to: id, .invalid(reason)), to: batch))
        // A server asks its peers nothing.
        case .result, .failure: self.enqueue(self.requests.add(nil, to: batch))
        }
    }

    private func accept(_ id: RPCID, _ method: String, _ params: JSONNode?, _ batch: Int?) {
        do throws(RPCFailure) {
            try self.checkPhase(method)
            let number = try self.requests.admit(id, batch: batch)
            self.ledger.note { $0.requests += 1 }
            self.channel.began(id)
            do throws(RPCFailure) {
                try self.perform(method, try RPCParameters(params), id, number)
            } catch {
                self.finish(number, with: error)
            }
        } catch {
            self.enqueue(self.requests.add(Self.answer(to: id, error), to: batch))
        }
    }

    private func checkPhase(_ method: String) throws(RPCFailure) {
        switch self.phase {
        case .unauthenticated:
            if method != SystemMethod.authenticate.rawValue {
                throw self.refused("`$/authenticate` comes first")
            }
        case .silent: self.phase = .open
        case .open: break
        case .draining, .closed: throw RPCFailure(RoutingError(.shutDown, message: ""), reference: nil)
        }
    }

    private func refused(_ message: String) -> RPCFailure {
        RPCFailure(RoutingError(.refused, message: message), reference: nil)
    }

    /// Compares the peer's token; a wrong one closes the connection.
    func authenticate(_ token: String?) throws(RPCFailure) {
        guard let expected = self.token else { return }
        guard let token, expected.matches(token) else {
            self.logger.notice("a peer is refused", metadata: self.metadata("its token is wrong"))
            self.drain()
            throw self.refused("the token is wrong")
        }
        if self.phase == .unauthenticated { self.phase = .open }
    }

    /// Whether notifications of the peer are handled.
    var takesNotifications: Bool {
        if self.phase == .silent { self.phase = .open }
        return self.phase == .open
    }

    /// Runs code for a request, at once as far as that goes, and answers with what it returns.
    func answer(
        _ number: ServedRequests.Number,
        _ body: @escaping (isolated RPCSession) async throws -> JSONText
    ) {
        let task = Task.immediate {
            do {
                self.finish(number, with: try await body(self))
            } catch {
                self.finish(number, with: self.failure(error))
            }
            if self.tasks.removeValue(forKey: number) != nil { self.channel.flushSoon() }
        }
        // It is over, or has failed although its handler goes on.
        guard let id = self.requests.id(of: number) else { return task.cancel() }
        self.tasks[number] = task
        self.channel.accepted(id)
    }

    func cancel(_ number: ServedRequests.Number) {
        // Before there is an entry the task has not suspended, and nothing else runs.
        self.tasks[number]?.cancel()
    }

    func finish(_ number: ServedRequests.Number, with result: JSONText) {
        guard let id = self.requests.id(of: number) else { return }
        if let error = self.channel.objection(to: result) {
            return self.finish(number, with: self.failure(error))
        }
        var writer = JSONWriter(capacity: result.range.count + 48)
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":")
        writer.id(id)
        writer.name("result")
        writer.raw(result)
        if self.tellsTypes { writer.raw(result.typeNote) }
        writer.raw("}")
        self.channel.ended(id, nil)
        self.finish(number, id, writer.bytes)
    }

    func finish(_ number: ServedRequests.Number, with failure: RPCFailure) {
        guard let id = self.requests.id(of: number) else { return }
        self.channel.ended(id, failure)
        self.finish(number, id, Self.answer(to: id, failure))
    }

    private func finish(_ number: ServedRequests.Number, _ id: RPCID, _ answer: [UInt8]) {
        self.ledger.note { $0.answers += 1 }
        if let text = self.requests.finish(number, answer), !self.channel.enqueue(text) {
            // A batch has no ID of its own.
            self.enqueueAnswer(to: text.first == UInt8(ascii: "[") ? .null : id, .overflow)
        }
        self.closeIfDrained()
    }

    private func enqueue(_ answer: [UInt8]?) {
        if let answer { self.channel.enqueue(answer) }
    }

    func enqueueAnswer(to id: RPCID, _ failure: RPCFailure) {
        self.channel.enqueue(Self.answer(to: id, failure))
    }

    static func answer(to id: RPCID, _ failure: RPCFailure) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":")
        writer.id(id)
        writer.name("error")
        writer.failure(failure)
        writer.raw("}")
        return writer.bytes
    }
}

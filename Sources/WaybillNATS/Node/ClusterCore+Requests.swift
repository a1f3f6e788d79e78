internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting
internal import WaybillServe

// What this node asks the others.
extension ClusterCore {
    /// Has a message handled by a node that shares the best pattern for its URL.
    func route(_ message: Message) async throws -> any Sendable {
        let url = message.address.text
        // A node has sent it here for a route of this one, which is there no more.
        guard !message.isFromNode else { throw self.noRoute(url) }
        let isForwarded = message.returnURL.map { !self.bus.hasOwnRoute(for: $0) } ?? false
        let call = try OutgoingCall(message, forwardsReturn: isForwarded)
        // The node that answers sends the value there.
        if isForwarded { message.forwardReturn() }
        let shape = try self.shape(for: url)
        do {
            return try await self.send(call, message, shape)
        } catch let error as RoutingError where error.code == .noRoute && error.route == nil {
            // No node has it any more; no handler has seen the message.
            await self.refresh(shape)
        }
        do {
            return try await self.send(call, message, try self.shape(for: url))
        } catch let error as RoutingError
            where error.code == .noRoute && error.route == nil && self.isReturning
        {
            throw self.unreachable(url, "its nodes have not come back to the server yet", error)
        }
    }

    private func shape(for url: String) throws(RoutingError) -> PatternShape {
        if let shape = self.state.withLock({ $0.shape(for: url) }) { return shape }
        throw self.noRoute(url)
    }

    private func noRoute(_ url: String) -> RoutingError {
        let nearest = self.state.withLock { $0.suggestions(for: url) }
        let hint = nearest.isEmpty ? "" : "; did you mean \(nearest.joined(separator: " or "))?"
        return RoutingError(.noRoute, url: url, message: "no node of the cluster has a route for it\(hint)")
    }

    private func send(
        _ call: OutgoingCall,
        _ message: Message,
        _ shape: PatternShape
    ) async throws -> any Sendable {
        let url = message.address.text
        if let obstacle = self.obstacle { throw self.unreachable(url, obstacle, nil) }
        let id = self.pending.openUnguessable()
        defer {
            self.pending.close(id)
            self.requests[id] = nil
        }
        let bytes = call.request(id, timeLeft: message.deadline.map { $0 - self.now })
        if let error = self.objection(to: bytes, [], url) { throw error }
        self.requests[id] = SentRequest(shape: shape, sentAt: self.now)
        guard
            self.transport.publish(self.subjects.call(shape), reply: self.inbox(id), bytes)
        else {
            throw RoutingError(
                .mailboxFull,
                url: url,
                message: "too many messages wait to be sent to the server"
            )
        }
        self.note { $0.sent += 1 }
        do {
            let value = try await self.converse(id, message, call)
            self.note { $0.answered += 1 }
            return value
        } catch {
            self.note { statistics in
                switch (error as? RoutingError)?.code {
                case .unreachable?: statistics.lost += 1
                case .some: statistics.answered += 1
                case nil: statistics.cancelled += 1
                }
            }
            throw error
        }
    }

    /// Where the answers to one request of this node go.
    private func inbox(_ request: Int) -> String { self.inboxPrefix + String(request) }

    /// Why a message cannot be sent, if so: for a server, headers are a part of it, and nodes read only so
    /// deep.
    func objection(
        to payload: [UInt8],
        _ headers: [(name: String, value: String)],
        _ url: String
    ) -> RoutingError? {
        let limit = self.transport.payloadLimit
        let size = payload.count + TransportMessage.size(of: headers)
        if size > limit {
            return RoutingError(
                .notTransferable,
                url: url,
                message: "the message has \(size) bytes, and the server takes \(limit)"
            )
        }
        // The node that gets it would not read it. The data of an event in its binary mode may be no JSON.
        guard headers.isEmpty, JSONText(payload).isDeeper(than: JSONText.depthLimit) else { return nil }
        return RoutingError(
            .notTransferable,
            url: url,
            message: "the values are nested deeper than \(JSONText.depthLimit), which no node reads"
        )
    }

    /// Publishes a message to the subscribers of other nodes.
    func publish(_ message: Message) {
        let url = message.parameters.url
        do throws(RoutingError) {
            if let obstacle = self.obstacle { throw self.unreachable(url, obstacle, nil) }
            let timeLeft = message.deadline.map { $0 - self.now }
            let bytes = try OutgoingCall.publication(message, timeLeft: timeLeft)
            let mode = self.configuration.publicationFormat.mode
            let (payload, headers) = mode.map { self.event(message).encoded(as: $0) } ?? (bytes, [])
            if let error = self.objection(to: payload, headers, url) { throw error }
            self.lastPublication += 1
            let reply = self.inbox(self.lastPublication)
            let subject = self.publicationSubject(of: message)
            guard self.transport.publish(subject, reply: reply, payload, headers: headers) else {
                throw RoutingError(.mailboxFull, url: url, message: "too many messages wait to be sent")
            }
            self.note { $0.published += 1 }
        } catch {
            self.bus.lose(message, error)
        }
    }

    /// The subject of a publication: most are of the URL of the one before.
    private func publicationSubject(of message: Message) -> String {
        let address = message.address
        let (url, scheme) = (address.text, address.scheme)
        // The scheme is the default one's for a URL that has none, and that may change.
        if let latest = self.latestSubject, latest.url == url, latest.scheme == scheme {
            return latest.subject
        }
        let subject = self.subjects.publication(address)
        self.latestSubject = (url, scheme, subject)
        return subject
    }

    /// Asks the nodes that are said to share a shape what they share now.
    private func refresh(_ shape: PatternShape) async {
        let nodes = self.state.withLock { $0.nodes(sharing: shape) }
        guard !nodes.isEmpty else { return }
        self.lastRefresh += 1
        let number = self.lastRefresh
        let waiter = SuspendedTask(on: self.eventLoop)
        let timer = self.eventLoop.schedule(at: Deadline(after: .seconds(1), by: self.eventLoop.time)) {
            [weak self] in
            self?.assumeOnLoop { $0.endRefresh(number) }
        }
        await waiter.wait(isolation: self) {
            self.refreshes[number] = Refresh(missing: nodes, waiter: waiter)
            for node in nodes { self.announce(.ask, to: node) }
            if Task.isCancelled { self.endRefresh(number) }
        } onCancel: {
            self.eventLoop.execute { self.assumeOnLoop { $0.endRefresh(number) } }
        }
        timer.cancel()
    }

    private func endRefresh(_ number: Int) {
        self.refreshes.removeValue(forKey: number)?.waiter.resume()
    }

    /// The state of a node is known, or it is gone.
    func refreshed(_ node: NodeID) {
        for number in Array(self.refreshes.keys) {
            self.refreshes[number]?.missing.remove(node)
            if self.refreshes[number]?.missing.isEmpty == true { self.endRefresh(number) }
        }
    }
}

// What every caller of requests has to say.
extension ClusterCore {
    func notify(_ method: SystemMethod, _ id: Int, _ answer: Result<JSONText, RPCFailure>?) {
        guard let node = self.requests[id]?.node else {
            // A node that has not said yet that it has the request is told when it does, also if that is
            // before the caller's task has come to its end.
            if method == .cancelRequest { self.requests[id] = nil }
            return
        }
        let bytes = OutgoingCall.notification(method, id, answer)
        let error = self.objection(to: bytes, [], "")
        if error == nil, self.tell(node, bytes, about: id) { return }
        // The handler waits for an answer, and gets this one.
        let failure = error.map { RPCFailure(wholly: $0) } ?? .overflow
        self.tell(node, OutgoingCall.notification(method, id, .failure(failure)), about: id)
    }

    @discardableResult
    func tell(_ node: NodeID, _ bytes: [UInt8], about id: Int) -> Bool {
        self.transport.publish(self.subjects.node(node), reply: self.inbox(id), bytes)
    }

    func unreachable(_ url: String, _ reason: String, _ cause: (any Error)?) -> RoutingError {
        RoutingError(.unreachable, url: url, message: "the cluster cannot answer: \(reason)", cause: cause)
    }

    func note(objection: String) {
        self.configuration.logger.notice("a node objects", metadata: ["reason": "\(objection)"])
    }
}

// What is lost.
extension ClusterCore {
    func noteLoss(of member: ClusterState.Member, _ reason: String) {
        self.configuration.logger.notice(
            "a node is lost",
            metadata: ["node": "\(member.name)", "id": "\(member.id)", "reason": "\(reason)"]
        )
    }

    /// A node is gone: what it has, or may have, is lost.
    func lose(_ member: ClusterState.Member, _ reason: String) {
        self.refreshed(member.id)
        self.publicationsSeen[member.id] = nil
        let text = "the node \(member.name) (\(member.id)) \(reason)"
        for (id, request) in self.requests where request.node == member.id {
            self.deliver(.lost(text), to: id)
        }
        // It may be there after all, and wait for what it has asked since.
        let lost = self.saying("has lost sight of the one that asked")
        self.sessions.removeValue(forKey: .node(member.id))?.assumeOnLoop { $0.abandon(lost) }
        self.loseUnclaimed(of: member, text)
    }

    /// Requests that no node has claimed, and that the lost one may have had: a node that lives claims what
    /// it gets at once, so a moment later they are lost.
    private func loseUnclaimed(of member: ClusterState.Member, _ reason: String) {
        let table = self.bus.clusterTable(of: PatternShape.self)
        let shapes = Set(member.routes.compactMap { try? table.pattern($0) }.map { PatternShape($0) })
        let limit = self.now
        let deadline = Deadline(after: .milliseconds(250), by: self.eventLoop.time)
        self.eventLoop.schedule(at: deadline) { [weak self] in
            self?.assumeOnLoop { core in
                for (id, request) in core.requests
                where request.node == nil && request.sentAt <= limit && shapes.contains(request.shape) {
                    core.deliver(.lost(reason), to: id)
                }
            }
        }
    }

    /// Fails all that waits for other nodes.
    func loseAll(_ reason: String) {
        for (waiter, event) in self.pending.loseAll(reason) { waiter.resume(returning: event) }
        for number in Array(self.refreshes.keys) { self.endRefresh(number) }
    }
}

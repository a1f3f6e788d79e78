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
            throw self.unreachable(url, "its nodes have not yet connected to the server again", error)
        }
    }

    private func shape(for url: String) throws(RoutingError) -> PatternShape {
        if let shape = self.state.withLock({ $0.shape(for: url) }) { return shape }
        throw self.noRoute(url)
    }

    private func noRoute(_ url: String) -> RoutingError {
        let nearest = self.state.withLock { $0.suggestions(for: url) }
        let hint = nearest.isEmpty ? "" : "; did you mean \(nearest.joined(separator: " or "))?"
        return RoutingError(
            .noRoute,
            url: url,
            message: "no node of the cluster has a route for this URL\(hint)"
        )
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
            self.transport.publish(self.subjects.call(shape), reply: self.inbox(id), bytes, as: .request)
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
    private func inbox(_ request: Int) -> ReplySubject { .numbered(self.inboxPrefix, request) }

    /// Why a message cannot be sent, if so: for a server, headers are a part of it, and nodes read only so
    /// deep, which need not be looked at in one that is known to be flat.
    func objection(
        to payload: [UInt8],
        in envelope: MessageEnvelope? = nil,
        _ headers: [(name: String, value: String)],
        _ url: String,
        isFlat: Bool = false
    ) -> RoutingError? {
        let limit = self.transport.payloadLimit
        let size = payload.count + (envelope?.size ?? 0) + TransportMessage.size(of: headers)
        if size > limit {
            return RoutingError(
                .notTransferable,
                url: url,
                message: "the message has \(size) bytes, but the server accepts at most \(limit)"
            )
        }
        // The node that gets it would not read it. The data of an event in its binary mode may be no JSON.
        let depthLimit = JSONText.depthLimit - (envelope == nil ? 0 : 3)
        guard headers.isEmpty, !isFlat, JSONText(payload).isDeeper(than: depthLimit) else { return nil }
        return RoutingError(
            .notTransferable,
            url: url,
            message: "the values are nested deeper than \(depthLimit) levels, which is the limit of a node"
        )
    }

    /// Publishes a message to the subscribers of other nodes.
    func publish(_ message: Message) {
        // In the memory of the one before. A value's own code may publish as well, and finds none here.
        var writer = self.writer.take() ?? JSONWriter(capacity: 512)
        do throws(RoutingError) {
            try self.publish(message, with: &writer)
            self.note { $0.published += 1 }
        } catch {
            self.bus.lose(message, error)
        }
        writer.restart()
        self.writer = writer
    }

    private func publish(_ message: Message, with writer: inout JSONWriter) throws(RoutingError) {
        let url = message.parameters.url
        if let obstacle = self.obstacle { throw self.unreachable(url, obstacle, nil) }
        let topic = self.topic(of: message, url)
        let ownURL = topic.url.hasSameBytes(as: url) ? nil : url
        let timeLeft = message.deadline.map { $0 - self.now }
        try OutgoingCall.write(publication: message, timeLeft: timeLeft, ownURL: ownURL, to: &writer)
        var (payload, envelope) = (writer.bytes, topic.envelope as MessageEnvelope?)
        var headers: [(name: String, value: String)] = []
        if let mode = self.configuration.publicationFormat.mode {
            (payload, headers) = self.event(message).encoded(as: mode)
            envelope = nil
        }
        if let error = self.objection(to: payload, in: envelope, headers, url, isFlat: writer.isFlat) {
            throw error
        }
        self.lastPublication += 1
        let isTaken = self.transport.publish(
            topic.subject,
            reply: self.inbox(self.lastPublication),
            payload,
            in: envelope,
            headers: headers,
            as: .publication
        )
        if isTaken { return }
        throw RoutingError(.mailboxFull, url: url, message: "too many messages wait to be sent")
    }

    /// Where a message is published to: most are published to the URL of the one before, or to its subject.
    private func topic(of message: Message, _ url: String) -> PublishedTopic {
        let hops = message.hops + 1
        let latest = self.latestTopic.flatMap { $0.hops == hops ? $0 : nil }
        // The scheme of a URL that has none is the default one, which may change.
        if let latest, latest.hasScheme, latest.url.hasSameBytes(as: url) { return latest }
        let address = message.address
        let subject = self.subjects.publication(address)
        // What is around all of them is short.
        if let latest, latest.subject == subject, latest.url.utf8.count <= Subjects.limit { return latest }
        let topic = PublishedTopic(address, subject, hops: hops)
        self.latestTopic = topic
        return topic
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
        let subject = self.subjects.node(node)
        return self.transport.publish(subject, reply: self.inbox(id), bytes, as: .dialog)
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

/// A subject that is published to, with what all messages to it have around them.
final class PublishedTopic: Sendable {
    /// The URL of the first message, and of each that does not say another one.
    let url: String
    let hasScheme: Bool
    let subject: String
    let hops: Int
    let envelope: MessageEnvelope

    init(_ address: Address, _ subject: String, hops: Int) {
        self.url = address.text
        self.hasScheme = address.hasScheme
        self.subject = subject
        self.hops = hops
        self.envelope = MessageEnvelope(
            start: OutgoingCall.beginningOfPublications(to: address.text, hops: hops),
            end: OutgoingCall.endOfPublications
        )
    }
}

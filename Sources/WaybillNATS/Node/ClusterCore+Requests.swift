internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting
internal import WaybillServe

// Requests of this node to other nodes.
extension ClusterCore {
    /// Sends a message to a node that shares the best pattern for its URL, and waits for the reply.
    func route(_ message: Message) async throws -> any Sendable {
        let url = message.address.completeURL
        // Another node has sent this message for a route that this node had shared and no longer has.
        guard !message.isFromNode else { throw self.noRoute(url) }
        // A store sends the value itself, in the commit that completes the message.
        let isForwarded =
            message.source == nil && message.returnURL.map { !self.bus.hasOwnRoute(for: $0) } ?? false
        let call = try OutgoingCall(message, forwardsReturn: isForwarded)
        // The node that handles the message also sends the value to the return URL.
        if isForwarded { message.forwardReturn() }
        let shape = try self.shape(for: url)
        do {
            return try await self.send(call, message: message, shape: shape)
        } catch let error as RoutingError where error.code == .noRoute && error.route == nil {
            // No node has the route any more. No handler has received the message, so this node may send it
            // again.
            await self.refresh(shape)
        }
        do {
            return try await self.send(call, message: message, shape: try self.shape(for: url))
        } catch let error as RoutingError
            where error.code == .noRoute && error.route == nil && self.isReturning
        {
            throw self.unreachable(
                url,
                reason: "some nodes have possibly not connected to the server again yet",
                cause: error
            )
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
        message: Message,
        shape: PatternShape
    ) async throws -> any Sendable {
        let url = message.address.text
        if let obstacle = self.obstacle { throw self.unreachable(url, reason: obstacle, cause: nil) }
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
                message: "too many messages wait to be sent to the server: try again later"
            )
        }
        self.note { $0.sent += 1 }
        do {
            let value = try await self.converse(id, message: message, call: call)
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

    /// Returns the subject for the answers to one request of this node.
    private func inbox(_ request: Int) -> ReplySubject { .numbered(self.inboxPrefix, request) }

    /// Returns the error for a message that exceeds a limit of the server or of a node, or nil when the message
    /// may be sent.
    ///
    /// The server counts the headers as a part of the message. If the caller has determined that the message
    /// is flat, its depth is not checked. A message with headers is an event, whose depth is not checked
    /// either.
    func objection(
        to payload: [UInt8],
        in envelope: MessageEnvelope? = nil,
        _ headers: [(name: String, value: String)],
        _ url: String,
        isFlat: Bool = false
    ) -> RoutingError? {
        if headers.count > MessageHeaders.limit {
            return RoutingError(
                .notTransferable,
                url: url,
                message:
                    "the message has \(headers.count) headers, but a node accepts at most "
                    + "\(MessageHeaders.limit)"
            )
        }
        let limit = self.transport.payloadLimit
        let size = payload.count + (envelope?.size ?? 0) + TransportMessage.size(of: headers)
        if size > limit {
            return RoutingError(
                .notTransferable,
                url: url,
                message: "the message has \(size) bytes, but the server accepts at most \(limit)"
            )
        }
        // Another node does not read a message that exceeds a limit.
        let depthLimit = JSONText.depthLimit - (envelope == nil ? 0 : 3)
        guard headers.isEmpty, !isFlat || !CombiningMarks.areFew(in: payload.span) else { return nil }
        return JSONText(payload).objection(depthLimit: depthLimit, url: url)
    }

    /// Publishes a message to subscribers on other nodes.
    func publish(_ message: Message) {
        // Reuse the memory of the previous publication. The encoding of a value may publish another message.
        // That inner publication finds no writer in this property, and creates a new one.
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
        let url = message.address.completeURL
        if let obstacle = self.obstacle { throw self.unreachable(url, reason: obstacle, cause: nil) }
        // No node accepts such a URL, and the messages in its envelope would be lost as well.
        guard CombiningMarks.areFew(inURL: url) else { throw .combiningMarks(url) }
        let topic = self.topic(of: message, url)
        let ownURL = topic.url.hasSameBytes(as: url) ? nil : url
        let timeLeft = message.deadline.map { $0 - self.now }
        try OutgoingCall.write(publication: message, timeLeft: timeLeft, ownURL: ownURL, to: &writer)
        var (payload, envelope) = (writer.bytes, topic.envelope as MessageEnvelope?)
        var headers: [(name: String, value: String)] = []
        if let mode = self.configuration.publicationFormat.mode {
            let event = self.event(message, url, in: topic.subject)
            (payload, headers) = event.encoded(as: mode)
            envelope = nil
            let isReadable = writer.isFlat && CombiningMarks.areFew(in: writer.bytes.span)
            if !isReadable, let error = event.objection(in: mode, url) { throw error }
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
        throw RoutingError(
            .mailboxFull,
            url: url,
            message: "too many messages wait to be sent: try again later"
        )
    }

    /// Returns the subject and the envelope of a publication.
    ///
    /// Most publications have the same URL or subject as the previous publication, so the latest topic is
    /// cached.
    private func topic(of message: Message, _ url: String) -> PublishedTopic {
        let hops = message.hops + 1
        let latest = self.latestTopic.flatMap { $0.hops == hops ? $0 : nil }
        if let latest, latest.url.hasSameBytes(as: url) { return latest }
        let address = message.address
        let subject = self.subjects.publication(address)
        // The envelope of each message contains the URL of the topic, so do not reuse a topic with a long
        // URL.
        if let latest, latest.subject == subject, latest.url.utf8.count <= Subjects.limit { return latest }
        let topic = PublishedTopic(url, subject: subject, hops: hops)
        self.latestTopic = topic
        return topic
    }

    /// Asks the nodes that share patterns of a shape for their current state, and waits at most one second.
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

    /// Resumes the callers that wait for a node whose state has arrived, or which is no longer a member.
    func refreshed(_ node: NodeID) {
        for number in Array(self.refreshes.keys) {
            self.refreshes[number]?.missing.remove(node)
            if self.refreshes[number]?.missing.isEmpty == true { self.endRefresh(number) }
        }
    }
}

// The parts of ``RPCCaller`` that depend on the transport.
extension ClusterCore {
    func notify(_ method: SystemMethod, id: Int, answer: Result<JSONText, RPCFailure>?) {
        guard let node = self.requests[id]?.node else {
            // No node has claimed the request yet. Remove the request now. A node that claims the request
            // later is then told to cancel it, even if the caller's task has not ended yet.
            if method == .cancelRequest { self.requests[id] = nil }
            return
        }
        let bytes = OutgoingCall.notification(method, id: id, answer: answer)
        let error = self.objection(to: bytes, [], "")
        if error == nil, self.tell(node, bytes, about: id) { return }
        // The handler waits for an answer, so send the failure instead.
        let failure = error.map { RPCFailure(wholly: $0) } ?? .overflow
        self.tell(node, OutgoingCall.notification(method, id: id, answer: .failure(failure)), about: id)
    }

    @discardableResult
    func tell(_ node: NodeID, _ bytes: [UInt8], about id: Int) -> Bool {
        let subject = self.subjects.node(node)
        return self.transport.publish(subject, reply: self.inbox(id), bytes, as: .dialog)
    }

    func unreachable(_ url: String, reason: String, cause: (any Error)?) -> RoutingError {
        RoutingError(.unreachable, url: url, message: "the cluster cannot answer: \(reason)", cause: cause)
    }

    func note(objection: String) {
        self.configuration.logger.notice(
            "another node reports a problem",
            metadata: ["reason": "\(SafeText.line(objection, limit: SafeText.limit))"]
        )
    }
}

// Requests and sessions that end because a node or the connection is lost.
extension ClusterCore {
    func noteLoss(of member: ClusterState.Member, _ reason: String) {
        self.configuration.logger.notice(
            "a node is lost",
            metadata: ["node": "\(member.name)", "id": "\(member.id)", "reason": "\(reason)"]
        )
    }

    /// Fails the requests that a node has claimed or may have received, and ends the session of the node.
    func lose(_ member: ClusterState.Member, _ reason: String) {
        self.refreshed(member.id)
        self.publicationsSeen[member.id] = nil
        let text = "the node \(member.name) (\(member.id)) \(reason)"
        for (id, request) in self.requests where request.node == member.id {
            self.deliver(.lost(text), to: id)
        }
        // The node possibly still runs and waits for replies to its own requests, so fail these requests.
        let lost = self.saying("no longer receives messages of the node that sent the request")
        self.sessions.removeValue(forKey: .node(member.id))?.assumeOnLoop { $0.failAll(lost) }
        self.loseUnclaimed(of: member, text)
    }

    /// Fails the requests that no node has claimed and that a lost node has possibly received.
    ///
    /// A running node answers a request at once or, if the handler suspends, informs the sender that the node
    /// handles the request (it *claims* the request). A request that is still unclaimed after 250
    /// milliseconds is treated as lost.
    func loseUnclaimed(of member: ClusterState.Member, _ reason: String) {
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

    /// Fails every request that waits for another node.
    func loseAll(_ reason: String) {
        for (waiter, event) in self.pending.endAll(with: .lost(reason)) { waiter.resume(returning: event) }
        for number in Array(self.refreshes.keys) { self.endRefresh(number) }
    }
}

/// A subject for publications, and the envelope that all messages to the subject share.
final class PublishedTopic: Sendable {
    /// The URL of the first message; a message to another URL contains that URL itself.
    let url: String
    let subject: String
    let hops: Int
    let envelope: MessageEnvelope

    init(_ url: String, subject: String, hops: Int) {
        self.url = url
        self.subject = subject
        self.hops = hops
        self.envelope = MessageEnvelope(
            start: OutgoingCall.beginningOfPublications(to: url, hops: hops),
            end: OutgoingCall.endOfPublications
        )
    }
}

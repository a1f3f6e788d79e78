internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting
internal import WaybillServe

// Events of the transport.
extension ClusterCore {
    /// Handles an event, as ``ClusterTransport/open(on:receive:)`` requires.
    func receive(_ event: TransportEvent) -> Bool {
        switch event {
        case .message(let message): return self.receiveMessage(message)
        case .remainder: return self.receiveRemainder()
        case .undelivered(let reply, let reason): self.noteUndelivered(reply, reason)
        case .overflow:
            self.configuration.logger.error(
                "dropped messages of other nodes, because this node handles them too slowly"
            )
            self.loseAll("this node handles answers too slowly, so some were dropped")
            // Requests of other nodes, and messages about requests, may be among the dropped messages.
            // `hello` makes the other nodes fail the requests that they have sent to this node.
            self.abandonSessions(
                "handles messages too slowly, and may have dropped messages about the request"
            )
            self.announce(.hello)
        case .publicationOverflow:
            self.configuration.logger.error(
                "dropped publications of other nodes, because this node handles them too slowly"
            )
        case .connected:
            self.isConnected = true
            self.reconnectedAt = self.now
            self.state.withLock { $0.hearAll(at: self.now) }
            self.configuration.logger.notice("connected again")
            // `hello` makes the other nodes fail the requests that they have sent to this node, so their
            // handlers here have to end. A client that is not a node still waits for its answer.
            self.abandonSessions("lost its connection for a moment", ofClients: false)
            self.announce(.hello)
        case .disconnected(let reason):
            self.isConnected = false
            self.configuration.logger.notice(
                "lost the connection to the server",
                metadata: ["reason": "\(reason)"]
            )
            self.loseAll("the connection to the server is lost: \(reason)")
        case .problem(let text):
            self.configuration.logger.warning("the server reports a problem", metadata: ["reason": "\(text)"])
        case .notPermitted(let subject, let isCut): self.noteForbidden(subject, isCut: isCut)
        case .lameDuck: self.configuration.logger.notice("the server is about to shut down")
        }
        return true
    }

    /// Handles a message of a subscription, and returns whether the whole message has been handled.
    private func receiveMessage(_ message: TransportMessage) -> Bool {
        if self.subjects.isAboutNodes(message.subject) {
            self.receiveAnnouncement(message)
            return true
        }
        if let verb = ServiceDescription.verb(in: message.subject) {
            self.answerServiceRequest(verb, message.reply)
            return true
        }
        if !message.headers.isEmpty, self.receiveEvent(message) { return true }
        // Nodes join answers and publications as an array, which adds one level of nesting. A node sends each
        // request alone, so only clients send batches of requests.
        let isBatch = message.payload.first == UInt8(ascii: "[")
        let depth = JSONText.depthLimit + (isBatch ? 1 : 0)
        // A node sends fewer messages together than this limit allows.
        let limit = RPCServer.Limits().messagesPerBatch
        let frame = RPCFrame(JSONText(message.payload), depth: depth, batchLimit: limit)
        if self.subjects.isPublication(message.subject) {
            return self.receivePublications(frame, message.reply)
        }
        if case .malformed(let error, let id) = frame {
            self.note { $0.malformed += 1 }
            if self.subjects.request(ofInbox: message.subject) != nil {
                self.loseAnswers(with: id, error, from: message.reply)
            }
        } else if self.subjects.request(ofInbox: message.subject) != nil {
            // Other nodes answer the requests of this node at its inboxes.
            let node = message.reply.flatMap { self.subjects.node(in: $0) }
            for answer in frame.messages { self.receiveAnswer(answer, from: node) }
        } else {
            self.receiveRequests(frame, in: message)
        }
        return true
    }

    /// Returns whether a node ID, which a reply subject contains, belongs to a node of the cluster.
    func isMember(_ id: NodeID?) -> Bool {
        id.map { id in self.state.withLock { $0.members[id] != nil || $0.leaving[id] != nil } } ?? false
    }

    /// Answers a request of the NATS services API.
    private func answerServiceRequest(_ verb: ServiceDescription.Verb, _ reply: String?) {
        guard let reply, let service = self.service else { return }
        let table = self.bus.clusterTable(of: PatternShape.self)
        let endpoints = self.offer.routes.sorted().compactMap { text in
            (try? table.pattern(text)).map { pattern in
                ServiceDescription.Endpoint(
                    pattern: text,
                    subject: self.subjects.call(PatternShape(pattern))
                )
            }
        }
        let bytes = service.response(to: verb, endpoints, self.tally.counts)
        guard bytes.count <= self.transport.payloadLimit else {
            return self.configuration.logger.notice(
                "the description of the shared routes exceeds the server's size limit for messages"
            )
        }
        _ = self.transport.publish(reply, reply: nil, bytes, as: .dialog)
    }

    /// Handles the report that no subscriber received a message, or that the message could not be sent.
    private func noteUndelivered(_ reply: String, _ reason: TransportEvent.Undelivered) {
        if let (_, id) = self.subjects.request(ofInbox: reply) {
            switch reason {
            case .noSubscriber:
                // The node that had claimed the request is no longer connected. Another node must not handle
                // the request a second time.
                let lost = self.requests[id]?.node.map {
                    "the node \(self.name(of: $0)) is no longer connected to the server"
                }
                self.deliver(lost.map { .lost($0) } ?? .finished(.failure(.unrouted)), to: id)
            case .notSent(let message, let reason):
                if self.pending.contains(id) {
                    self.deliver(.lost(reason), to: id)
                } else {
                    self.losePublications(message, reason)
                }
            }
        } else if let node = self.subjects.asked(in: reply), case .noSubscriber = reason, !self.isReturning {
            guard let member = self.state.withLock({ $0.drop(node) }) else { return }
            self.noteLoss(of: member, "is no longer connected to the server")
            self.lose(member, "is no longer connected to the server")
        }
    }

    /// Fails the messages that the server has rejected, because the permissions of this node's NATS user forbid
    /// their subject.
    ///
    /// The content of a rejected message is no longer known. One dead letter, whose URL comes from the subject,
    /// represents all publications in the message.
    private func noteForbidden(_ subject: String, isCut: Bool) {
        let name = isCut ? "subjects that begin with \(subject)" : "the subject \(subject)"
        let message =
            "the NATS server does not permit this node to publish to \(name): "
            + "change the permissions of the node's NATS user"
        self.configuration.logger.warning("the server reports a problem", metadata: ["reason": "\(message)"])
        let failure = RPCFailure(wholly: RoutingError(.refused, message: message))
        for (id, request) in self.requests where request.node == nil {
            let call = self.subjects.call(request.shape)
            let isForbidden = isCut ? call.begins(with: subject) : call == subject
            if isForbidden { self.deliver(.finished(.failure(failure)), to: id) }
        }
        guard !isCut, self.subjects.isPublication(subject), let url = self.subjects.url(in: subject) else {
            return
        }
        self.bus.lose(url, RoutingError(.refused, url: url, message: message))
    }

    /// Reports accepted publications as dead letters to the bus, because the transport could not send them.
    private func losePublications(_ message: TransportMessage, _ reason: String) {
        for url in self.publishedURLs(in: message) {
            self.bus.lose(url, self.unreachable(url, reason: reason, cause: nil))
        }
    }

    /// Returns the URLs of the publications in a message, whose format may be JSON-RPC or CloudEvents.
    private func publishedURLs(in message: TransportMessage) -> [String] {
        if let event = (try? CloudEvent.carried(by: message))?.event {
            return self.url(of: event, in: message.subject).map { [$0] } ?? []
        }
        guard case .message(let message) = RPCFrame(JSONText(message.payload), depth: JSONText.depthLimit),
            let publications = RPCPublications(message, arrivedAt: .now)
        else { return [] }
        return publications.urls
    }

    private func receiveAnnouncement(_ message: TransportMessage) {
        guard let announcement = Announcement(message.payload) else { return self.note { $0.malformed += 1 } }
        if announcement.node == self.id { return self.noteForged(announcement) }
        for action in self.state.withLock({ $0.receive(announcement, at: self.now) }) {
            switch action {
            case .ask(let node): self.announce(.ask, to: node)
            case .answer(let node): self.announce(.state, to: node)
            case .learned(let node): self.refreshed(node)
            case .left(let member): self.noteLeft(member)
            case .returned(let member):
                self.lose(member, "lost its connection for a moment, and has dropped the request")
            case .greet(let node): self.announce(.hello, to: node)
            }
        }
    }

    /// Handles the departure of a node, which still answers the requests that it has received.
    private func noteLeft(_ member: ClusterState.Member) {
        self.configuration.logger.info("a node has left", metadata: ["node": "\(member.name)"])
        self.refreshed(member.id)
        self.publicationsSeen[member.id] = nil
    }
}

// Requests of other nodes and of clients.
extension ClusterCore {
    /// Handles the requests in one message of a node or a client.
    private func receiveRequests(_ frame: RPCFrame, in message: TransportMessage) {
        let endpoint = self.subjects.isCall(message.subject) ? message.subject : nil
        if endpoint != nil { self.note { $0.received += 1 } }
        let sender = message.reply.flatMap { self.subjects.request(ofInbox: $0)?.node }
        let peer = sender.map { .node($0) } ?? Peer.client(ExactText(message.reply ?? ""))
        let isMember = self.isMember(sender)
        // A publication is not charged to the budget. All clients together have one limit on their
        // publications, which must arrive on the subjects for publications.
        if !isMember, frame.messages.contains(where: \.isPublication) {
            return self.note { $0.malformed += 1 }
        }
        let senders: RequestBudget.Senders = isMember ? .nodes : .clients
        let (count, size) = (frame.messages.count, message.size)
        // Accept the answer to a progress reply and a cancellation in any case, because they help requests to
        // end.
        let isAboutRequest = frame.messages.count == 1 && frame.messages.allSatisfy(\.isAboutRequest)
        guard isAboutRequest || self.budget.hasRoom(forRequests: count, size: size, of: senders) else {
            return self.refuse(frame, of: senders, message.reply)
        }
        // The record of a request gives the budget back when it is released. A batch is charged once, also for
        // members that are not requests, because their answers wait for the answers to its requests.
        var batch: RequestBudget.BatchCharge?
        if case .batch = frame {
            batch = RequestBudget.BatchCharge(bytes: size, of: senders, to: self.budget)
        }
        let makeRecord: @Sendable (Int) -> RunningRequest = { [budget, tally, batch] bytes in
            let charge = RequestBudget.Charge(bytes: batch == nil ? bytes : 0, of: senders, to: budget)
            return RunningRequest(charge, in: batch, tally: tally, subject: endpoint)
        }
        let session = self.session(with: peer)
        session.assumeOnLoop { $0.receive(frame, recording: makeRecord) }
        // A client could invent any number of node IDs, so do not keep an idle session for a client.
        if !isMember { self.endIfIdle(session, peer) }
    }

    /// Rejects requests that exceed a limit.
    private func refuse(_ frame: RPCFrame, of senders: RequestBudget.Senders, _ reply: String?) {
        let failure = RPCFailure(wholly: self.budget.overflow(of: senders))
        if senders == .nodes, let node = reply.flatMap({ self.subjects.request(ofInbox: $0)?.node }) {
            let inbox = self.subjects.inbox(node, 0)
            for case .request(let id, _, _) in frame.messages.map(\.content) {
                let answer = RPCSession.answer(to: id, failure)
                _ = self.transport.publish(inbox, reply: nil, answer, in: .array, headers: [], as: .dialog)
            }
        } else if let reply {
            let id: RPCID
            switch frame {
            case .message(let message):
                guard case .request(let own, _, _) = message.content else { return }
                id = own
            // A batch does not have an ID.
            case .batch, .largeBatch, .malformed: id = .null
            }
            _ = self.transport.publish(reply, reply: nil, RPCSession.answer(to: id, failure), as: .dialog)
        }
    }

    /// Returns the session with a node or a client, and creates it for the first request.
    private func session(with key: Peer) -> RPCSession {
        if let session = self.sessions[key] { return session }
        let isMember = if case .node(let id) = key { self.isMember(id) } else { false }
        let configuration = self.configuration
        var limits = RPCServer.Limits()
        limits.requestsInFlight = configuration.requestsPerNode
        limits.requestBytesInFlight = configuration.requestBytesPerNode
        if !isMember {
            limits.requestsInFlight = min(limits.requestsInFlight, configuration.requestsOfClients)
            limits.requestBytesInFlight = min(
                limits.requestBytesInFlight,
                configuration.requestBytesOfClients
            )
        }
        // The bus does not know when a client disconnects, so a subscription would never end. Clients can
        // subscribe to NATS subjects instead, and nodes do not subscribe.
        limits.subscriptions = 0
        limits.requestsPerSecond = .max
        let (peer, subject, hasNodeID) =
            switch key {
            // All answers to a node have one subject, so that the transport can join them. Their JSON-RPC IDs
            // name the requests.
            case .node(let id): (self.name(of: id), self.subjects.inbox(id, 0), true)
            case .client(let reply): (reply.text, reply.text, false)
            }
        let reply = self.subjects.node(self.id)
        let transport = self.transport
        let onAnswer: @Sendable () -> Void = { [weak self] in
            guard let self else { return }
            self.eventLoop.execute { self.sweep(key) }
        }
        let session = RPCSession(
            self.bus,
            node: MessageOrigin(transport: "nats", peer: peer),
            tellsTypes: hasNodeID,
            isOfMember: isMember,
            limits: limits,
            logger: self.configuration.logger,
            document: self.document
        ) {
            NodeChannel(
                peer: peer,
                to: subject,
                replyingTo: reply,
                isNode: hasNodeID,
                over: transport,
                onAnswer: isMember ? nil : onAnswer
            )
        }
        self.sessions[key] = session
        return session
    }

    /// Returns the name of a node for the log and for the origin of its messages.
    func name(of id: NodeID) -> String {
        self.state.withLock { $0.members[id]?.name }.map { "\($0) (\(id))" } ?? "\(id)"
    }

    /// Removes the session of a client that is not a node, if the session is idle.
    private nonisolated func sweep(_ key: Peer) {
        self.assumeOnLoop { core in
            if let session = core.sessions[key] { core.endIfIdle(session, key) }
        }
    }

    /// Removes idle sessions, because a client could invent any number of node IDs.
    func sweepSessions() {
        for (key, session) in self.sessions { self.endIfIdle(session, key) }
    }

    private func endIfIdle(_ session: RPCSession, _ key: Peer) {
        if session.assumeOnLoop({ $0.isIdle }) { self.sessions[key] = nil }
    }

    /// Receives the publications in one message of a node or a client.
    private func receivePublications(_ frame: RPCFrame, _ reply: String?) -> Bool {
        guard case .message(let message) = frame,
            let publications = RPCPublications(message, arrivedAt: self.now)
        else {
            self.note { $0.malformed += 1 }
            return true
        }
        let sender = reply.flatMap { self.subjects.request(ofInbox: $0) }
        guard self.isNew(sender) else {
            self.note { $0.unknown += publications.count }
            return true
        }
        // All senders that are not nodes share one session, and therefore its limits.
        let node = sender.flatMap { self.isMember($0.node) ? $0.node : nil }
        self.publications = (publications, node.map { .node($0) } ?? .client(ExactText("")))
        return self.receiveRemainder()
    }

    /// Handles the remaining publications until the loop has to poll, and returns whether none are left.
    private func receiveRemainder() -> Bool {
        guard let (publications, peer) = self.publications.take() else { return true }
        var rest = publications
        self.session(with: peer).assumeOnLoop { [eventLoop] session in
            // The transport consumes the delivery budget of the loop once for each message, which includes
            // the first publication.
            repeat {
                session.publishNext(of: &rest)
            } while !rest.isEmpty && eventLoop.consumeDeliveryBudget()
        }
        if rest.isEmpty { return true }
        self.publications = (rest, peer)
        return false
    }

    /// Returns whether publications of a node have not arrived before.
    ///
    /// While a subscription of this node replaces another one, a message can arrive twice. Each message of a
    /// node has another number in its reply subject. A publication of this node has reached the subscribers
    /// of this node already. It arrives here if its server sends it late, after this node has connected to
    /// another server.
    func isNew(_ sender: (node: NodeID, number: Int)?) -> Bool {
        guard let (node, number) = sender else { return true }
        if node == self.id { return false }
        if self.publicationsSeen[node] == nil, self.publicationsSeen.count >= 10_000 {
            let members = self.state.withLock { $0.members }
            self.publicationsSeen = self.publicationsSeen.filter { members[$0.key] != nil }
            if self.publicationsSeen.count >= 10_000 { self.publicationsSeen = [:] }
        }
        return self.publicationsSeen[node, default: RecentNumbers()].insert(number)
    }
}

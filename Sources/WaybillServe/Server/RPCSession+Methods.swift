internal import Logging
internal import Waybill
internal import WaybillDocuments
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The methods of the protocol itself.
///
/// Every other method of a request is a URL.
package enum SystemMethod: String, Sendable {
    case authenticate = "$/authenticate"
    case ping = "$/ping"
    case publish = "$/publish"
    case subscribe = "$/subscribe"
    case unsubscribe = "$/unsubscribe"
    case answer = "$/answer"
    case cancelRequest = "$/cancelRequest"
    case routes = "$/routes"
    case document = "$/document"
    case fingerprint = "$/fingerprint"
    case explain = "$/explain"

    // Methods that a server sends.
    package static let progress = "$/progress"
    static let message = "$/message"
    /// The method of a claim, with which a node informs the sender of a request that the node handles the
    /// request.
    package static let claim = "$/accepted"

    /// Whether a method refers to a request that is underway.
    ///
    /// While a session drains, its requests still receive their answers, and can be cancelled.
    static func isAboutRequest(_ method: String) -> Bool {
        method == Self.answer.rawValue || method == Self.cancelRequest.rawValue
    }

    static func isSystem(_ method: String) -> Bool { method.utf8.starts(with: "$/".utf8) }
}

extension RPCSession {
    /// Handles an admitted request of the protocol itself.
    func perform(
        _ method: String,
        with parameters: RPCParameters,
        number: ServedRequests.Number
    ) throws(RPCFailure) {
        switch SystemMethod(rawValue: method) {
        case .authenticate:
            try self.connection?.authenticate(parameters["token"]?.string, in: self)
            self.reply(to: number, with: JSONText(true))
        case .ping: self.reply(to: number, with: JSONText("pong"))
        case .publish: try self.publish(parameters, number)
        case .subscribe:
            self.reply(to: number, with: JSONText(try self.subscribe(to: parameters.text("pattern"))))
        case .unsubscribe:
            let wasThere = self.unsubscribe(try parameters.number("subscription"))
            self.reply(to: number, with: JSONText(wasThere))
        case .answer: self.reply(to: number, with: JSONText(self.takeAnswer(parameters)))
        case .cancelRequest: self.reply(to: number, with: JSONText(self.cancelRequest(parameters)))
        case .routes: self.reply(to: number, with: self.describeRoutes())
        case .document: self.replyLater(to: number) { await $0.document.jsonLine }
        case .fingerprint: self.replyLater(to: number) { JSONText(await $0.document.fingerprint) }
        case .explain: self.reply(to: number, with: self.explain(try parameters.text("url")))
        case nil:
            throw RPCFailure(
                code: RPCFailure.methodNotFound,
                message: "the protocol has no method \(method)",
                name: "noRoute"
            )
        }
    }

    /// Handles a notification, and logs its errors.
    func notify(
        _ method: String,
        _ params: JSONNode?,
        size: Int,
        recording makeRecord: (Int) -> (any RequestRecord)?
    ) {
        self.connection?.noteNotification(self)
        guard self.phase != .closed else { return }
        do {
            guard self.phase == .open || SystemMethod.isAboutRequest(method) else {
                let error = RoutingError(.shutDown, message: "the connection accepts no more messages")
                throw RPCFailure(error, reference: nil)
            }
            let parameters = try RPCParameters(params)
            guard SystemMethod.isSystem(method) else {
                let request = self.request(
                    method,
                    values: parameters.values,
                    attachment: parameters.attachment,
                    from: self.peerWithoutID
                )
                return try self.inTurn(nil, bytes: size, record: makeRecord(size)) { session, work in
                    session.post(request.counted(by: work), work)
                }
            }
            switch SystemMethod(rawValue: method) {
            case .publish:
                let arrived = try RPCPublications(parameters, arrivedAt: self.eventLoop.time.instant)
                // Publications that wait keep the bytes of their whole frame in memory.
                let bytes = max(size, self.connection?.frameBytes ?? 0)
                try self.inTurn(nil, bytes: bytes) { session, work in
                    var publications = arrived
                    publications.work = work
                    session.publish(publications)
                    work.endPart()
                }
            case .unsubscribe: _ = self.unsubscribe(try parameters.number("subscription"))
            case .answer: _ = self.takeAnswer(parameters)
            case .cancelRequest: _ = self.cancelRequest(parameters)
            case .authenticate, .ping, .subscribe, .routes, .document, .fingerprint, .explain, nil: break
            }
        } catch {
            self.logger.info("a notification failed", metadata: self.metadata("\(error)"))
        }
    }

    /// Sends a message without waiting for a reply, and logs its failure.
    ///
    /// The bus ends the work of a message that it accepts.
    private func post(_ request: ExternalRequest, _ work: ExternalWork) {
        do {
            try self.bus.send(request)
        } catch {
            work.endPart()
            self.logger.info("a notification failed", metadata: self.metadata("\(error)"))
        }
    }

    private func publish(_ parameters: RPCParameters, _ number: ServedRequests.Number) throws(RPCFailure) {
        let publications = try RPCPublications(parameters, arrivedAt: self.eventLoop.time.instant)
        self.connection?.bucket.charge(publications.count - 1)
        let deadline = publications.timeLeft.map { publications.arrival + $0 }
        try self.inTurn(number, deadline: deadline) { session, work in
            session.replyLater(to: number) { session in
                // The messages are decoded here and not before, because a message that waits uses less memory
                // as text.
                var (rest, requests) = (publications, [ExternalRequest]())
                rest.work = work
                while !rest.isEmpty { requests.append(try session.next(of: &rest)) }
                var taken = 0
                for request in requests {
                    taken += try await session.bus.publish(request)
                    if Task.isCancelled {
                        throw RoutingError(.cancelled, message: "the publication was cancelled")
                    }
                    await EventLoop.yieldIfDue()
                }
                return JSONText(taken)
            }
        }
    }

    /// Publishes the messages of one `$/publish` notification, which is not answered.
    private func publish(_ publications: RPCPublications) {
        var publications = publications
        do throws(RPCFailure) {
            // Check all messages together, so that the limit does not drop only some of them.
            try self.checkPublicationLimit(publications.size)
            self.publishAccepted(of: &publications)
            guard !publications.isEmpty else { return }
            // Publishing many messages at once would delay the other connections. The task that reads the
            // connection publishes them one by one.
            if let connection, connection.isHandling {
                publications.work?.addPart()
                connection.unpublished = publications
                return
            }
            self.connection?.bucket.charge(publications.count)
            let rest = publications
            Task.immediate { await self.publishRest(rest) }
        } catch {
            self.noteFailedPublication(error)
        }
    }

    /// Publishes the rest of a notification that has waited for its turn.
    private func publishRest(_ publications: RPCPublications) async {
        var rest = publications
        rest.work?.addPart()
        self.unawaitedBytes += rest.size
        self.connection?.unfinishedRests += 1
        while !rest.isEmpty {
            await EventLoop.yieldIfDue()
            if rest.undelivered == nil { self.unawaitedBytes -= rest.sizeOfNext }
            self.publishAccepted(of: &rest)
        }
        rest.work?.endPart()
        self.connection?.unfinishedRests -= 1
        self.connection?.countReceivedBytes(of: self)
        self.connection?.closeIfDrained(self)
    }

    /// Returns the request for the next message.
    private func next(of publications: inout RPCPublications) throws(RPCFailure) -> ExternalRequest {
        let element = try publications.next()
        let request = self.request(
            element.url,
            values: element.values,
            attachment: element.attachment,
            from: self.peerWithoutID,
            arrivedAt: publications.arrival
        )
        return publications.work.map { request.counted(by: $0) } ?? request
    }

    private func checkPublicationLimit(_ bytes: Int) throws(RPCFailure) {
        try self.connection?.checkRoom(for: bytes, in: self)
        let limits = self.limits
        if self.unawaitedPublications >= limits.requestsInFlight {
            throw .limit("\(limits.requestsInFlight) publications of this connection wait: try again later")
        }
        guard self.unawaitedBytes > 0, self.unawaitedBytes + bytes > limits.requestBytesInFlight else {
            return
        }
        throw .limit(
            "the waiting publications of this connection would exceed \(limits.requestBytesInFlight) bytes"
        )
    }

    /// Publishes the next message of a `$/publish` notification, which is not answered, or delivers the
    /// undelivered message to further subscribers.
    ///
    /// The caller must have counted one delivery against the loop's budget.
    package func publishNext(of publications: inout RPCPublications) {
        if self.phase != .open { publications.dropRest() }
        if !publications.isEmpty { self.publishAccepted(of: &publications, isCounted: true) }
    }

    /// Publishes the next message of an accepted `$/publish` notification, even if the session ends, or
    /// delivers the undelivered message to further subscribers.
    ///
    /// - Parameters:
    ///   - publications: The messages.
    ///   - isCounted: Whether the caller has already counted one delivery against the loop's budget.
    func publishAccepted(of publications: inout RPCPublications, isCounted: Bool = false) {
        if publications.undelivered == nil {
            do {
                let size = publications.sizeOfNext
                let request = try self.next(of: &publications)
                if isCounted { try self.checkPublicationLimit(size) }
                publications.undelivered = try self.bus.begin(publishing: request, isCounted: isCounted)
                    .map { ($0, size) }
            } catch {
                self.noteFailedPublication(error)
            }
        } else {
            publications.undelivered?.publication.deliver()
        }
        guard let (publication, size) = publications.undelivered, publication.isDelivered else { return }
        publications.undelivered = nil
        self.unawaitedPublications += 1
        self.unawaitedBytes += size
        self.connection?.countReceivedBytes(of: self)
        let work = publications.work
        work?.addPart()
        Task.immediate {
            await publication.finish()
            work?.endPart()
            self.unawaitedPublications -= 1
            self.unawaitedBytes -= size
            self.connection?.countReceivedBytes(of: self)
        }
    }

    private func noteFailedPublication(_ error: any Error) {
        self.logger.info("a publication failed", metadata: self.metadata("\(error)"))
    }

    private func cancelRequest(_ parameters: RPCParameters) -> Bool {
        guard let number = parameters.requestID.flatMap({ self.requests.number(of: $0) }) else {
            return false
        }
        self.cancel(number)
        return true
    }
}

extension RPCParameters {
    func text(_ name: String) throws(RPCFailure) -> String {
        if let text = self[name]?.string { return text }
        throw .parameters("`\(name)` must be a text")
    }

    func number(_ name: String) throws(RPCFailure) -> Int {
        if let number = self[name]?.text.int { return number }
        throw .parameters("`\(name)` must be a whole number")
    }

    /// The ID of the request to which a notification refers.
    var requestID: RPCID? { self["id"].flatMap { RPCID($0.text) } }
}

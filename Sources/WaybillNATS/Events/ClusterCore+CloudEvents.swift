internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

// CloudEvents. Clients that are not nodes send events, and a node can be configured to send its publications
// as events.
extension ClusterCore {
    /// An event whose handler is running.
    struct RunningEvent {
        let url: String
        let request: RunningRequest
        /// The subject for the answer; nil for an event that is not answered.
        let reply: String?
        var task: Task<Void, Never>?
    }

    /// The message headers that become attributes of the same names, as CloudEvents defines them for traces.
    private static let traceHeaders = ["traceparent", "tracestate"]

    /// Handles the event in a message, and returns whether the message carries an event, valid or malformed.
    func receiveEvent(_ message: TransportMessage) -> Bool {
        do throws(CloudEventError) {
            guard let (event, mode) = try CloudEvent.carried(by: message) else { return false }
            guard let request = self.request(event, message) else {
                self.note { $0.malformed += 1 }
                return true
            }
            self.handleEvent(request, mode: mode, message: message)
        } catch {
            self.note { $0.malformed += 1 }
            let failure = RoutingError(.invalidParameter, url: "", message: "\(error)")
            self.sendFailure(failure, to: message.reply)
        }
        return true
    }

    private func handleEvent(_ request: ExternalRequest, mode: EventMode, message: TransportMessage) {
        let isPublication = self.subjects.isPublication(message.subject)
        let sender = message.reply.flatMap { self.subjects.request(ofInbox: $0) }
        guard !isPublication || self.isNew(sender) else {
            return self.note { $0.unknown += 1 }
        }
        let senders: RequestBudget.Senders = self.isMember(sender?.node) ? .nodes : .clients
        let size = message.size
        guard self.budget.hasRoom(forRequests: 1, size: size, of: senders) else {
            let error = self.budget.overflow(of: senders, request.url)
            if isPublication { return self.bus.lose(request.url, error) }
            return self.sendFailure(error, to: message.reply)
        }
        let endpoint = self.subjects.isCall(message.subject) ? message.subject : nil
        let charge = RequestBudget.Charge(bytes: size, of: senders, to: self.budget)
        let running = RunningRequest(charge, in: nil, tally: self.tally, subject: endpoint)
        // The closure keeps the charge until the handler has returned, which may be after the answer.
        let work = ExternalWork { [running] in _ = running }
        let request = request.counted(by: work)
        self.lastEvent += 1
        let number = self.lastEvent
        self.runningEvents[number] = RunningEvent(
            url: request.url,
            request: running,
            reply: isPublication ? nil : message.reply
        )
        let task = Task.immediate {
            defer { work.endPart() }
            if isPublication {
                _ = try? await self.bus.publish(request)
                self.runningEvents[number] = nil
            } else {
                self.note { $0.received += 1 }
                await self.answerEvent(number, request, mode: mode)
            }
        }
        // The subscribers of a publication may finish after the node has left.
        if !isPublication { self.runningEvents[number]?.task = task }
    }

    /// Routes the request of a running event, and answers it unless the node has left in the meantime.
    private func answerEvent(_ number: Int, _ request: ExternalRequest, mode: EventMode) async {
        do throws(RoutingError) {
            let reply = try await self.bus.route(request)
            guard let event = self.runningEvents[number] else { return }
            try self.sendEvent(self.event(reply, of: request), mode: mode, to: event.reply)
            self.runningEvents[number] = nil
            event.request.end(failure: nil)
        } catch {
            self.failEvent(number, error)
        }
    }

    private func failEvent(_ number: Int, _ error: RoutingError) {
        guard let event = self.runningEvents.removeValue(forKey: number) else { return }
        self.sendFailure(error, to: event.reply)
        event.request.end(failure: error.message)
    }

    /// Fails the events whose handlers are running, and cancels the handlers.
    func abandonEvents(_ reason: String) {
        for (number, event) in self.runningEvents {
            let error = RoutingError(.unreachable, url: event.url, message: self.saying(reason))
            self.failEvent(number, error)
            event.task?.cancel()
        }
    }

    /// Returns the event that carries a reply.
    private func event(_ reply: Reply, of request: ExternalRequest) throws(RoutingError) -> CloudEvent {
        let pattern = self.bus.explainExposed(request.url, to: .nodes).route?.pattern.text ?? request.url
        return CloudEvent(
            known: [
                "id": CloudEvent.id(of: reply.correlationID), "source": self.eventSource, "type": pattern,
                "subject": request.url, "datacontenttype": "application/json",
            ],
            data: try JSONWriter.encoded(reply.content)
        )
    }

    private func sendEvent(_ event: CloudEvent, mode: EventMode, to subject: String?) throws(RoutingError) {
        guard let subject else { return }
        let (payload, headers) = event.encoded(as: mode)
        if let error = self.objection(to: payload, headers, event["subject"] ?? "") { throw error }
        _ = self.transport.publish(subject, reply: nil, payload, in: nil, headers: headers, as: .dialog)
    }

    /// Sends an error reply to an event, with the headers that NATS services use for errors.
    private func sendFailure(_ error: RoutingError, to subject: String?) {
        guard let subject else { return }
        var writer = JSONWriter()
        writer.raw("{")
        writer.name("code", isFirst: true)
        writer.string(error.code.description)
        writer.name("message")
        writer.string(error.message)
        writer.raw("}")
        let headers = [
            (name: "Nats-Service-Error-Code", value: "\(error.code.httpStatus)"),
            (name: "Nats-Service-Error", value: error.code.description),
        ]
        _ = self.transport.publish(subject, reply: nil, writer.bytes, in: nil, headers: headers, as: .dialog)
    }
}

// Conversion between events and messages of the bus.
extension ClusterCore {
    /// Returns the request that an event represents.
    ///
    /// Returns nil when the event has no URL, or when its data is not valid.
    private func request(_ event: CloudEvent, _ message: TransportMessage) -> ExternalRequest? {
        guard let url = self.url(of: event, in: message.subject) else { return nil }
        var headers = event.messageHeaders
        for name in Self.traceHeaders { headers[name] = event[name] }
        var parameters: [String: any Sendable] = [:]
        var payload: (any Sendable)?
        if let data = event.data {
            if CloudEvent.isJSON(event.contentType) {
                guard let value = try? JSONText(validating: data) else { return nil }
                parameters = value.parameters ?? [:]
                payload = value
            } else {
                let text = String(validating: data, as: UTF8.self)
                if let text, !CombiningMarks.areFew(in: text) { return nil }
                payload = text ?? data
            }
        }
        return ExternalRequest(
            url: url,
            parameters: parameters,
            headers: headers,
            deadline: event.deadline,
            payload: payload,
            origin: MessageOrigin(transport: "nats", peer: event["source"]),
            audience: .nodes
        )
    }

    /// Returns the URL of an event that is sent to a NATS subject, or nil when the event has no URL.
    ///
    /// The URL is the event's `subject` if that is a URL, and otherwise the URL in the NATS subject. An event
    /// that arrived at a node over HTTP keeps its `subject` when the node publishes it. The `subject` of a
    /// publication is therefore only the URL if publications to that URL have the same NATS subject.
    func url(of event: CloudEvent, in natsSubject: String) -> String? {
        let subject = event["subject"].flatMap { $0.hasBytes(of: "://") ? $0 : nil }
        if let subject, self.subjects.isPublication(natsSubject) {
            let address = self.bus.address(of: subject)
            if address.map({ self.subjects.publication($0) }) == natsSubject { return subject }
        } else if let subject {
            return subject
        }
        return self.subjects.url(in: natsSubject)
    }

    /// Returns the event for a publication to a NATS subject.
    ///
    /// The event is unchanged if the message arrived as an event and the NATS subject contains its URL.
    func event(_ message: Message, _ url: String, in natsSubject: String) -> CloudEvent {
        let type = String(url.prefix { $0 != "?" && $0 != "#" })
        let event = CloudEvent(message, of: type, from: self.eventSource)
        var attributes = event.attributes
        for name in Self.traceHeaders where attributes[name] == nil {
            attributes[name] = message.headers[name]
        }
        // The subject of a long URL does not contain the URL, and some conventions ignore the case.
        let known = self.subjects.url(in: natsSubject).flatMap { self.bus.address(of: $0) }
        if known?.segments != message.address.segments { attributes["subject"] = url }
        return CloudEvent(known: attributes, data: event.data)
    }
}

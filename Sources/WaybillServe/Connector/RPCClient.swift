internal import Logging
internal import Waybill
package import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The client's side of a connection: ``PendingRequests`` knows what is awaited, ``Backoff`` when to try
/// again, and this actor acts.
package actor RPCClient: LoopBound {
    package nonisolated let eventLoop: EventLoop
    nonisolated let address: StreamAddress
    nonisolated let configuration: RPCConnector.Configuration

    var pending = PendingRequests<LoopContinuation<PendingEvent>>()
    var channel: FrameChannel?
    var backoff: Backoff
    /// The requests that wait for a connection, while one is made.
    var waiting: [Int: LoopContinuation<Result<Void, RoutingError>>]?
    var lastWaiting = 0
    var lastAttempt = Result<Void, RoutingError>.success(())
    var isClosed = false
    /// Takes the messages of subscriptions.
    var subscriber: (@Sendable (String?) async -> Void)?
    /// Set while requests are in flight.
    private var watch: ScheduledTimer?
    private var isPinged = false

    init(_ address: StreamAddress, _ configuration: RPCConnector.Configuration, on eventLoop: EventLoop?) {
        self.address = address
        self.configuration = configuration
        self.eventLoop = eventLoop ?? EventLoop(name: "rpc")
        self.backoff = Backoff(first: configuration.firstPause, limit: configuration.longestPause)
    }

    /// Closes the connection; requests in flight fail with `unreachable`.
    package nonisolated func close() {
        self.eventLoop.execute {
            self.assumeOnLoop { client in
                client.isClosed = true
                client.channel?.connection.close()
            }
        }
    }

    /// Sends a message, and waits for the reply.
    func route(_ message: Message) async throws -> any Sendable {
        let url = message.address.text
        let call = try OutgoingCall(message)
        try await self.connect(for: url)
        let id = self.pending.open()
        defer { self.pending.close(id) }
        let timeLeft = message.deadline.map { $0 - self.eventLoop.time.instant }
        self.channel?.enqueue(call.request(id, timeLeft: timeLeft))
        self.channel?.flushSoon()
        self.watchServer()
        var hasReturned = false
        while true {
            switch await self.next(id) {
            case .progress(let value):
                let answer = await Self.answer(of: message, to: value)
                self.notify(.answer, id, answer)
                self.channel?.flushSoon()
            case .returned(let value, let headers):
                hasReturned = true
                message.with(headers: headers).sendReturn(value)
            case .finished(.success(let value)):
                // The handler has declined it, or sent it elsewhere.
                if call.hasReturnURL, !hasReturned { message.declineReturn() }
                return value
            case .finished(.failure(let failure)): throw self.error(failure, url)
            case .lost(let reason): throw self.unreachable(url, reason)
            case .cancelled:
                self.notify(.cancelRequest, id, nil)
                self.channel?.flushSoon()
                throw CancellationError()
            }
        }
    }

    func next(_ id: Int) async -> PendingEvent {
        let waiter = LoopContinuation<PendingEvent>(on: self.eventLoop)
        return await waiter.wait(isolation: self) {
            if Task.isCancelled { self.deliver(.cancelled, to: id) }
            if let event = self.pending.take(id, waiter) { waiter.resume(returning: event) }
        } onCancel: {
            self.eventLoop.execute { self.assumeOnLoop { $0.deliver(.cancelled, to: id) } }
        }
    }

    func deliver(_ event: PendingEvent, to id: Int) {
        guard let (waiter, event) = self.pending.deliver(event, to: id) else { return }
        waiter.resume(returning: event)
    }

    /// What the caller answers to a progress reply.
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

    func notify(_ method: SystemMethod, _ id: Int, _ answer: Result<JSONText, RPCFailure>?) {
        var writer = JSONWriter()
        writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"\(method.rawValue)\",\"params\":{\"id\":\(id)")
        switch answer {
        case .success(let value):
            writer.name("value")
            writer.raw(value)
        case .failure(let failure):
            writer.name("error")
            writer.failure(failure)
        case nil: break
        }
        writer.raw("}}")
        self.channel?.enqueue(writer.bytes)
    }

    /// A failure of the server as the bus's error.
    private func error(_ failure: RPCFailure, _ url: String) -> RoutingError {
        let error = failure.routingError(url: url)
        // It is not this bus that has been shut down.
        return error.code == .shutDown ? self.unreachable(url, error.message) : error
    }

    func unreachable(_ url: String, _ reason: String, _ cause: (any Error)? = nil) -> RoutingError {
        RoutingError(.unreachable, url: url, message: "\(self.address): \(reason)", cause: cause)
    }
}

// What the server sends.
extension RPCClient {
    /// Reads until the connection ends, and then fails what is in flight.
    func read(_ channel: FrameChannel) async {
        var reason = "the server has closed the connection"
        do {
            while let frame = try await channel.next(isFlushing: false) {
                self.backoff.succeeded()
                self.isPinged = false
                switch RPCFrame(frame, depth: 256) {
                case .message(let message):
                    if let subscriber, let text = self.subscribed(message) {
                        await subscriber(text)
                    } else {
                        self.receive(message)
                    }
                case .batch(let messages): for message in messages { self.receive(message) }
                case .malformed: throw FrameError.notRPC
                }
            }
        } catch let error as StreamError {
            reason = error.message
        } catch let error as FrameError {
            reason = error.message
        } catch {
            reason = "\(error)"
        }
        self.lose(channel, reason)
        await self.subscriber?(nil)
    }

    /// Closes a connection, and fails the requests in flight on it.
    func lose(_ channel: FrameChannel, _ reason: String) {
        channel.connection.close()
        guard self.channel === channel else { return }
        self.channel = nil
        let lost = self.pending.loseAll(reason)
        if !lost.isEmpty {
            self.configuration.logger.notice(
                "a connection is lost",
                metadata: ["address": "\(self.address)", "reason": "\(reason)"]
            )
        }
        for (waiter, event) in lost { waiter.resume(returning: event) }
    }

    private func receive(_ message: RPCMessage) {
        switch message.content {
        case .result(.number(let id), let value): self.deliver(.finished(.success(value)), to: id)
        case .failure(.number(let id), let error):
            self.deliver(.finished(.failure(RPCFailure(error))), to: id)
        case .failure(_, let error):
            let reason = RPCFailure(error).message
            self.configuration.logger.notice("the server objects", metadata: ["reason": "\(reason)"])
        case .notification(let method, let params): self.receive(method, params)
        case .request, .result, .invalid: break
        }
    }

    private func receive(_ method: String, _ params: JSONText?) {
        guard let id = params?.member(named: "id")?.int else { return }
        if method == SystemMethod.progress {
            self.deliver(.progress(params?.member(named: "value") ?? .null), to: id)
        } else if method == OutgoingCall.returnURL {
            let attachment = (try? RPCParameters(params))?.attachment ?? RPCAttachment()
            self.deliver(.returned(attachment.payload ?? .null, headers: attachment.headers), to: id)
        }
    }
}

// Signs of life.
extension RPCClient {
    /// Sees that the server says something while requests are in flight.
    func watchServer() {
        guard self.watch == nil, let interval = self.configuration.pingInterval else { return }
        let deadline = Deadline(after: interval, by: self.eventLoop.time)
        self.watch = self.eventLoop.schedule(at: deadline) { [weak self] in
            self?.assumeOnLoop { $0.checkServer(interval) }
        }
    }

    private func checkServer(_ interval: Duration) {
        self.watch = nil
        guard let channel = self.channel, self.pending.count > 0 else { return }
        defer { self.watchServer() }
        guard self.eventLoop.time.instant - channel.lastReceived >= interval else { return }
        if self.isPinged {
            channel.connection.abort()
            return
        }
        self.isPinged = true
        channel.enqueue(
            Array("{\"jsonrpc\":\"2.0\",\"id\":\"ping\",\"method\":\"\(SystemMethod.ping.rawValue)\"}".utf8)
        )
        self.channel?.flushSoon()
    }
}

internal import Logging
internal import Waybill
package import WaybillEventLoop
package import WaybillJSON
package import WaybillRouting

/// The client's end of a connection to a server.
///
/// ``PendingRequests`` stores the open requests, and ``Backoff`` determines when the client connects again.
/// This actor performs the I/O.
package actor RPCClient: RPCCaller {
    package nonisolated let eventLoop: EventLoop
    nonisolated let address: StreamAddress
    nonisolated let configuration: RPCConnector.Configuration

    package var pending = PendingRequests()
    var channel: FrameChannel?
    /// The time at which the latest connection was made.
    var connected: ContinuousClock.Instant
    var backoff: Backoff
    /// The requests that wait for a connection; nil while no attempt to connect is in progress and all
    /// requests of the latest attempt have continued.
    var waiting: [Int: LoopContinuation<Result<Void, RoutingError>>]?
    /// The numbers of the requests that were resumed after the latest attempt and have not continued yet.
    var resumed: Set<Int> = []
    var lastWaiting = 0
    var lastAttempt = Result<Void, RoutingError>.success(())
    var isClosed = false
    /// The closure that receives the messages of subscriptions on the next connection.
    var subscriber: Subscriber?
    /// The failure that the server sent last, if it belongs to no request; nil after any other message.
    var objection: RPCFailure?
    /// The timer of the next check whether the server is alive; nil if no check is scheduled.
    private var watch: ScheduledTimer?
    private var isPinged = false

    typealias Subscriber = @Sendable (String?) async -> Void

    init(_ address: StreamAddress, _ configuration: RPCConnector.Configuration, on eventLoop: EventLoop?) {
        self.address = address
        self.configuration = configuration
        self.eventLoop = eventLoop ?? EventLoop(name: "rpc")
        self.connected = self.eventLoop.time.instant
        self.backoff = Backoff(first: configuration.firstPause, limit: configuration.longestPause)
    }

    /// Closes the connection.
    ///
    /// Requests that wait for a reply fail with `unreachable`.
    package nonisolated func close() {
        self.eventLoop.execute {
            self.assumeOnLoop { client in
                client.isClosed = true
                client.channel?.connection.close()
                // An attempt to connect notices the end only after its pause.
                let error = client.disconnection()
                for (_, waiter) in client.waiting ?? [:] { waiter.resume(returning: .failure(error)) }
                if client.waiting != nil { client.waiting = [:] }
            }
        }
    }

    /// Sends a message, and waits for the reply.
    func route(_ message: Message) async throws -> any Sendable {
        let url = message.address.text
        let call = try OutgoingCall(message)
        let channel = try await self.connect(for: url)
        if let overflow = self.overflow(of: channel) {
            throw RoutingError(.mailboxFull, url: url, message: overflow)
        }
        let id = self.pending.open()
        defer { self.pending.close(id) }
        let timeLeft = message.deadline.map { $0 - self.eventLoop.time.instant }
        let request = call.request(id, timeLeft: timeLeft)
        if let excess = self.excess(of: request) {
            throw RoutingError(.notTransferable, url: url, message: excess)
        }
        channel.enqueue(request)
        channel.flushSoon()
        self.watchServer()
        return try await self.converse(id, message: message, call: call)
    }

    package func notify(_ method: SystemMethod, id: Int, answer: Result<JSONText, RPCFailure>?) {
        var text = OutgoingCall.notification(method, id: id, answer: answer)
        if let excess = self.excess(of: text) {
            let code = RoutingError.Code.notTransferable
            let failure = RPCFailure(code: code.rpcCode, message: excess, name: code.description)
            text = OutgoingCall.notification(method, id: id, answer: .failure(failure))
        }
        self.channel?.enqueue(text)
        self.channel?.flushSoon()
    }

    /// Returns the problem that too many bytes wait for the server; nil if a request can be sent.
    func overflow(of channel: FrameChannel) -> String? {
        guard channel.unsentBytes > self.configuration.unsentBytes else { return nil }
        return "\(self.address): the server has not read \(channel.unsentBytes) bytes of earlier messages; "
            + "send fewer messages at a time, or raise unsentBytes of the connector"
    }

    /// Returns the problem of a message that is too long for the server; nil if it can be sent.
    private func excess(of message: [UInt8]) -> String? {
        let limit = self.configuration.requestSize
        guard message.count > limit else { return nil }
        return "the message has \(message.count) bytes, and the limit is \(limit); raise requestSize of the "
            + "connector and frameSize of the server"
    }

    package func note(objection: String) {
        self.configuration.logger.notice(
            "the server reports a problem",
            metadata: ["reason": "\(SafeText.line(objection, limit: SafeText.limit))"]
        )
    }

    package func note(objection: RPCFailure) {
        self.objection = objection
        self.note(objection: objection.message)
    }

    package func unreachable(_ url: String, reason: String, cause: (any Error)?) -> RoutingError {
        RoutingError(.unreachable, url: url, message: "\(self.address): \(reason)", cause: cause)
    }
}

// Messages of the server.
extension RPCClient {
    /// The limit on the nesting of arrays and objects in a message of the server.
    static let depthLimit = 256

    /// Reads messages until the connection ends, and then fails the requests that wait for a reply.
    ///
    /// The subscriber receives the messages of subscriptions on this connection.
    func read(_ channel: FrameChannel, for subscriber: Subscriber?) async {
        var reason: String?
        do {
            while let frame = try await channel.next(isFlushing: false) {
                self.isPinged = false
                self.objection = nil
                switch RPCFrame(frame, depth: Self.depthLimit) {
                case .message(let message):
                    if let subscriber, let text = self.subscribed(message) {
                        await subscriber(text)
                    } else {
                        self.take(message)
                    }
                case .batch(let messages): for message in messages { self.take(message) }
                case .malformed(let error, .number(let id)):
                    self.deliver(.finished(.failure(RPCFailure(error))), to: id)
                case .malformed(.combiningMarks, _), .malformed(.tooDeep, _):
                    self.note(objection: "a message of the server exceeds a limit, and is skipped")
                case .largeBatch, .malformed: throw FrameError.notRPC
                }
            }
        } catch let error as StreamError {
            reason = error.message
        } catch let error as FrameError {
            reason = error.message
        } catch {
            reason = "\(error)"
        }
        self.lose(channel, reason ?? self.reasonOfServer)
        await subscriber?(nil)
    }

    /// The reason why the server has closed the connection.
    var reasonOfServer: String {
        let reason = "the server has closed the connection"
        return self.objection.map { "\(reason): \($0.message)" } ?? reason
    }

    /// Closes a connection, and fails the requests that wait for a reply on it.
    ///
    /// If the server has refused the connection before, the requests fail with `refused`.
    func lose(_ channel: FrameChannel, _ reason: String) {
        channel.connection.close()
        guard self.channel === channel else { return }
        self.channel = nil
        self.isPinged = false
        let now = self.eventLoop.time.instant
        self.backoff.ended(after: now - self.connected, at: now)
        let refusal = self.objection.flatMap { $0.isRefusal ? $0 : nil }
        let lost = self.pending.endAll(with: refusal.map { .finished(.failure($0)) } ?? .lost(reason))
        if !lost.isEmpty {
            self.configuration.logger.notice(
                "a connection is lost",
                metadata: ["address": "\(self.address)", "reason": "\(reason)"]
            )
        }
        for (waiter, event) in lost { waiter.resume(returning: event) }
    }
}

// Liveness checks.
extension RPCClient {
    /// Schedules the next check whether the server is alive, unless a check is scheduled already.
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

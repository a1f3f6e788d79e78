internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

extension RPCClient {
    /// Connects to the server, unless the client is connected already.
    ///
    /// - Returns: The channel of the connection. It can be used until the caller suspends.
    /// - Throws: `unreachable` if the attempt to connect fails, `refused` if the server does not accept the
    ///   token, `deadlineExceeded` if the deadline passes before, and `CancellationError` if the caller is
    ///   cancelled.
    func connect(for url: String, until deadline: Deadline = .never) async throws -> FrameChannel {
        if self.waiting == nil, let channel {
            if !channel.connection.isClosed { return channel }
            self.lose(channel, "the connection has ended")
        }
        try self.checkOpen(for: url)
        if self.waiting == nil {
            self.waiting = [:]
            self.startAttempt()
        }
        self.lastWaiting += 1
        let number = self.lastWaiting
        defer { self.noteContinued(number) }
        let waiter = LoopContinuation<Result<Void, RoutingError>>(on: self.eventLoop)
        // Add the waiter here, because the attempt possibly ends before the task waits.
        self.waiting?[number] = waiter
        let timer = self.schedule(at: deadline) { client in
            let error = RoutingError(.deadlineExceeded, message: "the server did not answer in time")
            client.giveUp(number, error)
        }
        defer { timer?.cancel() }
        do throws(RoutingError) {
            try await self.attempted(number, waiter).get()
        } catch {
            try Task.checkCancellation()
            throw RoutingError(error.code, url: url, message: error.message, cause: error.cause)
        }
        // The connection has possibly ended after the attempt and before this caller resumed.
        guard let channel, !channel.connection.isClosed else {
            if let refusal = self.objection, refusal.isRefusal { throw refusal.routingError(url: url) }
            throw self.unreachable(url, reason: self.reasonOfServer, cause: nil)
        }
        return channel
    }

    /// Schedules a closure at a deadline; returns nil if there is no deadline.
    func schedule(
        at deadline: Deadline,
        _ body: @escaping @Sendable (isolated RPCClient) -> Void
    ) -> ScheduledTimer? {
        guard deadline.exists else { return nil }
        return self.eventLoop.schedule(at: deadline) { [weak self] in self?.assumeOnLoop { body($0) } }
    }

    /// Waits until the current attempt to connect has ended.
    private func attempted(
        _ number: Int,
        _ waiter: LoopContinuation<Result<Void, RoutingError>>
    ) async -> Result<Void, RoutingError> {
        await waiter.wait(isolation: self) {
            if Task.isCancelled { self.giveUp(number) }
        } onCancel: {
            self.eventLoop.execute { self.assumeOnLoop { $0.giveUp(number) } }
        }
    }

    /// Resumes the requests that wait for the connection, in their order.
    ///
    /// Requests that arrive before these requests continue wait too, so that they do not overtake them.
    private func resumeWaiting() {
        let waiting = (self.waiting ?? [:]).sorted { $0.key < $1.key }
        self.resumed = Set(waiting.map(\.key))
        self.waiting = waiting.isEmpty ? nil : [:]
        for (_, waiter) in waiting { waiter.resume(returning: self.lastAttempt) }
    }

    /// Notes that a request uses the connection now, or has failed.
    private func noteContinued(_ number: Int) {
        guard self.resumed.remove(number) != nil, self.resumed.isEmpty else { return }
        guard self.waiting?.isEmpty == false, self.channel?.connection.isClosed ?? true else {
            return self.resumeWaiting()
        }
        // The attempt has failed, or its connection has ended. The requests that have arrived meanwhile need
        // another attempt.
        if let channel { self.lose(channel, "the connection has ended") }
        self.startAttempt()
    }

    private func startAttempt() {
        // Use a detached task. The connection must not inherit the priority or the task-local values of the
        // first message.
        Task.detached { await self.attempt() }
    }

    private func giveUp(
        _ number: Int,
        _ error: RoutingError = RoutingError(.cancelled, message: "the caller was cancelled")
    ) {
        self.waiting?.removeValue(forKey: number)?.resume(returning: .failure(error))
    }

    /// Tries once to connect, and resumes the requests that wait for the connection.
    private func attempt() async {
        let outcome: Result<Void, RoutingError>
        var isConnected = false
        do {
            if let delay = self.backoff.delay(at: self.eventLoop.time.instant) {
                try await self.eventLoop.clock.sleep(for: delay)
            }
            try self.checkOpen()
            var options = StreamOptions()
            options.connectTimeout = self.configuration.connectTimeout
            let connection = try await StreamConnection.connect(
                to: self.address,
                on: self.eventLoop,
                options: options
            )
            do {
                try self.checkOpen()
            } catch {
                connection.close()
                throw error
            }
            let channel = FrameChannel(connection, limit: self.configuration.frameSize, framing: .lines)
            self.channel = channel
            self.objection = nil
            isConnected = true
            self.connected = self.eventLoop.time.instant
            Task { [subscriber] in await self.read(channel, for: subscriber) }
            try await self.authenticate(on: channel)
            outcome = .success(())
        } catch {
            if !isConnected { self.backoff.failed(at: self.eventLoop.time.instant) }
            if let channel = self.channel { self.lose(channel, "the server rejected the token") }
            outcome = .failure(Self.error(of: error, at: self.address))
        }
        self.lastAttempt = outcome
        self.resumeWaiting()
    }

    /// Throws an error if the client has been closed, possibly after the current attempt began.
    private func checkOpen(for url: String = "") throws {
        if self.isClosed { throw self.disconnection(of: url) }
    }

    /// Returns the error of a request to a client that has been closed.
    func disconnection(of url: String = "") -> RoutingError {
        self.unreachable(url, reason: "the connector was disconnected", cause: nil)
    }

    private static func error(of error: any Error, at address: StreamAddress) -> RoutingError {
        if let error = error as? RoutingError { return error }
        let message = (error as? StreamError)?.message ?? "could not connect to \(address)"
        return RoutingError(.unreachable, message: message, cause: error)
    }

    private func authenticate(on channel: FrameChannel) async throws(RoutingError) {
        guard let token = self.configuration.token else { return }
        let id = self.pending.open()
        defer { self.pending.close(id) }
        var writer = JSONWriter()
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(SystemMethod.authenticate.rawValue)\"")
        writer.raw(",\"params\":{\"token\":")
        writer.string(token)
        writer.raw("}}")
        channel.enqueue(writer.bytes)
        let limit = Deadline(after: self.configuration.connectTimeout, by: self.eventLoop.time)
        let timer = self.schedule(at: limit) { [connection = channel.connection] client in
            guard let channel = client.channel, channel.connection === connection else { return }
            client.lose(channel, "the server did not answer the token in time")
        }
        defer { timer?.cancel() }
        await channel.flush()
        self.watchServer()
        switch await self.next(id) {
        case .finished(.success): return
        case .finished(.failure(let failure)): throw failure.routingError(url: "")
        case .lost(let reason): throw RoutingError(.unreachable, message: "\(self.address): \(reason)")
        default:
            throw RoutingError(
                .unreachable,
                message: "\(self.address) did not respond to the token like a Waybill server: "
                    + "check the address"
            )
        }
    }
}

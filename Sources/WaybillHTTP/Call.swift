#if HTTP
internal import HTTPTypes
package import Hummingbird
package import NIOCore
internal import NIOPosix
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

extension WaybillGateway {
    /// Calls the URL of a request.
    ///
    /// The method does not wait for the body of a GET request that has none.
    func call(
        _ request: Request,
        _ context: some RequestContext,
        from peer: SocketAddress?
    ) async throws -> Response {
        let place = try self.calls.take(for: peer?.ipAddress)
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if request.method == .get, !request.mayHaveBody(inHTTP2: self.configuration.isHTTP2) {
            return try await self.call(request, body: ByteBuffer(), at: place, context, from: peer)
        }
        let limit = self.configuration.bodyLimit
        // Most bodies without a length are small.
        let expected = min(max(0, length ?? 1 << 16), limit)
        try place.setBytes(expected)
        let (collected, body) = try await request.collectingBody(
            upTo: limit,
            within: self.configuration.timeout
        ) { bytes in
            if bytes > expected { try place.setBytes(bytes) }
        }
        // In HTTP/2, the end of the connection looks like the end of the body, so only the length shows whether
        // a body is complete.
        if self.configuration.isHTTP2 {
            if let length {
                let isComplete = body.readableBytes >= length || !self.configuration.watchesConnections
                guard isComplete else { throw Problem.incompleteBody }
            } else if body.readableBytes > 0 || request.headers[.contentType] != nil {
                throw Problem(.lengthRequired, "add the header Content-Length, which a body needs in HTTP/2")
            }
        }
        return try await self.call(collected, body: body, at: place, context, from: peer)
    }

    private func call(
        _ request: Request,
        body: ByteBuffer,
        at place: ClientCount.Place,
        _ context: some RequestContext,
        from peer: SocketAddress?
    ) async throws -> Response {
        let target = try GatewayRequest(request, behind: context, body: body)
        try place.setBytes(body.readableBytes + max(0, target.valueCount - 16) * 128)
        var external = try self.external(target, request, from: peer)
        let operations = self.bus.exposedOperations(of: external.url)
        try Self.checkMethod(of: request, operations)
        if request.method == .get, request.headers[.waybillReturn] != nil {
            throw Problem(.badRequest, "a return URL changes something: use POST")
        }
        // The closure keeps the place until the handler has returned, which may be after the response.
        let work = ExternalWork { [place] in _ = place }
        external = external.counted(by: work)
        if request.headers[.accept]?.hasBytes(of: "text/event-stream") == true {
            return try self.stream(external, of: work, for: request, from: peer?.ipAddress)
        }
        defer { work.endPart() }
        if target.event != nil, operations.isPublishedAlone {
            _ = try await self.bus.publish(external)
            return Response(status: .noContent)
        }
        let (result, isWatched) = await CallWatch(external, on: self.bus, self.grace).run(
            on: self.loop(for: external),
            for: self.configuration.watchesConnections ? request : nil
        )
        var response =
            switch result {
            case .success(let reply):
                self.response(reply, to: request, external: external, for: peer?.ipAddress)
            case .failure(let error): self.problem(error, at: external.url).response
            }
        if isWatched, !self.configuration.isHTTP2 { response.headers[.connection] = "close" }
        return response
    }

    /// Returns the response for a reply, whose body is either JSON or an event, or a problem if too many
    /// bytes of replies are unread.
    private func response(
        _ reply: CallReply,
        to request: Request,
        external: ExternalRequest,
        for client: String?
    ) -> Response {
        do throws(Problem) {
            guard let mode = EventMode(of: request) else {
                guard let json = reply.json else { return Response(status: .noContent) }
                return try Response(json: json, self.unread, for: client)
            }
            let url = external.url
            let pattern = self.bus.explainExposed(url).route?.pattern.text ?? url
            let event = CloudEvent(reply, of: pattern, at: url, from: request.source)
            return try Response(event, mode, self.unread, for: client)
        } catch {
            return error.response
        }
    }

    /// Rejects a GET request to a URL that allows only POST.
    private static func checkMethod(
        of request: Request,
        _ operations: ExposedOperations
    ) throws(Problem) {
        guard request.method == .get, operations.isChangedByPost else { return }
        throw Problem(.methodNotAllowed, "the route may change something: use POST", allowing: "POST")
    }

    /// Returns the problem for a request whose method the gateway never accepts, such as PUT.
    ///
    /// The problem contains the methods that the URL allows. `path` begins after the path of the gateway.
    func methodNotAllowed(_ path: [Substring]) -> Problem {
        let url = "\(path.first ?? "")://\(path.dropFirst().joined(separator: "/"))"
        let isWrite = self.bus.exposedOperations(of: url).isChangedByPost
        return isWrite
            ? Problem(.methodNotAllowed, "use POST", allowing: "POST")
            : Problem(.methodNotAllowed, "use GET or POST")
    }

    /// Returns a response that is a stream of progress replies, followed by the reply or the failure.
    private func stream(
        _ external: ExternalRequest,
        of work: ExternalWork,
        for request: Request,
        from client: String?
    ) throws(Problem) -> Response {
        guard self.bus.exposedOperations(of: external.url).contains(.calls) else {
            let explanation = self.bus.explainExposed(external.url)
            var problem = Problem(explanation.error ?? .noRoute(external.url))
            problem.suggestions = explanation.nearest
            throw problem
        }
        return self.streams.response(to: request, at: try self.streams.take(for: client)) { sink in
            defer { work.endPart() }
            // The handler of the call sees the problem of a progress reply first, and may replace it.
            let refusal = Locked<Problem?>(nil)
            do {
                let reply = try await self.bus.route(external) { value in
                    do {
                        return try await self.send("progress", value, to: sink, of: client)
                    } catch let problem as Problem {
                        refusal.withLock { $0 = problem }
                        throw problem
                    }
                }
                try await self.send("reply", reply.content, to: sink, of: client)
            } catch {
                let problem =
                    refusal.withLock { $0 } ?? error as? Problem ?? self.problem(error, at: external.url)
                await sink.send(ServerSentEvent("failure", problem.json))
            }
        }
    }

    /// Sends a value as an event, which counts until the client has read it.
    private func send(
        _ name: String,
        _ value: any Sendable,
        to sink: EventSink,
        of client: String?
    ) async throws {
        let json = try JSONWriter.encoded(value)
        let place = try self.unread.take(json.count, for: client)
        defer { withExtendedLifetime(place) {} }
        await sink.send(ServerSentEvent(name, json))
    }
}

extension Request {
    /// Whether a request may have a body.
    ///
    /// In HTTP/1.1, a request without a length and without a transfer encoding has none.
    func mayHaveBody(inHTTP2 isHTTP2: Bool) -> Bool {
        isHTTP2 || self.headers[.contentLength] != nil || self.headers[.transferEncoding] != nil
    }

    /// Reads the whole body of a request.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes.
    ///   - time: The time in which the body must arrive.
    ///   - count: A closure that receives the number of bytes after each part of the body, and may throw.
    /// - Returns: The request, whose body can be read again, and the body.
    /// - Throws: The problem that the body is too large, too late or incomplete, and the errors of `count`.
    package func collectingBody(
        upTo limit: Int,
        within time: Duration,
        _ count: @escaping @Sendable (Int) throws -> Void = { _ in }
    ) async throws -> (Request, ByteBuffer) {
        let collection = Task {
            var (request, body) = (self, ByteBuffer())
            for try await part in self.body {
                let size = body.readableBytes + part.readableBytes
                guard size <= limit else {
                    throw Problem(.contentTooLarge, "the body is larger than the limit of \(limit) bytes")
                }
                try count(size)
                body.writeImmutableBuffer(part)
            }
            request.body = RequestBody(buffer: body)
            return (request, body)
        }
        // The loop of the bus may be busy, and `Task.sleep` would keep memory until the end of the time.
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let timer = loop.scheduleTask(in: TimeAmount(time)) { collection.cancel() }
        defer { timer.cancel() }
        let result = await withTaskCancellationHandler {
            await collection.result
        } onCancel: {
            collection.cancel()
        }
        try Task.checkCancellation()
        // The result of a cancelled task is possibly the part of the body that has arrived.
        if collection.isCancelled {
            throw Problem(.requestTimeout, "the body did not arrive in time: send it faster")
        }
        do {
            return try result.get()
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem.incompleteBody
        }
    }
}

extension Problem {
    fileprivate static var incompleteBody: Self {
        Self(.badRequest, "the body is incomplete, or is not valid HTTP: send the request again")
    }
}

extension ExposedOperations {
    /// Whether only POST is allowed, because the URL accepts calls or publications and is not exposed for
    /// reads.
    ///
    /// The value is false for a URL that is not exposed, because the bus treats the URL as unknown.
    fileprivate var isChangedByPost: Bool {
        !self.contains(.reads) && (self.contains(.calls) || self.contains(.publishing))
    }
}

extension RoutingError {
    fileprivate static func noRoute(_ url: String) -> Self {
        Self(.noRoute, url: url, message: "no pattern matches")
    }
}
#endif

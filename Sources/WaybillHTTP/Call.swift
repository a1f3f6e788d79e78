#if HTTP
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

extension WaybillGateway {
    /// Calls the URL that a request names.
    func call(_ request: Request, _ context: some RequestContext) async throws -> Response {
        var request = request
        let body: ByteBuffer
        do {
            body = try await request.collectBody(upTo: self.configuration.bodyLimit)
        } catch is NIOTooManyBytesError {
            throw Problem(.contentTooLarge, "a body has \(self.configuration.bodyLimit) bytes at most")
        }
        let path = context.parameters.getCatchAll()
        let external = self.external(
            try GatewayRequest(request, path: path, body: body),
            request,
            context
        )
        try self.checkMethod(of: request, external.url)
        if request.headers[.accept]?.contains("text/event-stream") == true {
            return try self.stream(external, for: request)
        }
        let bus = self.bus
        let watch = CallWatch<[UInt8]?>(self.grace)
        let (result, isWatched) = await watch.run(for: request) { () async throws -> [UInt8]? in
            let reply = try await bus.route(external)
            return reply.content is Void ? nil : try JSONWriter.encoded(reply.content)
        }
        var response =
            switch result {
            case .success(let json): json.map { Response(json: $0) } ?? Response(status: .noContent)
            case .failure(let error): self.problem(error, at: external.url).response
            }
        if isWatched, !self.configuration.isHTTP2 { response.headers[.connection] = "close" }
        return response
    }

    /// Refuses GET where it could change something.
    private func checkMethod(of request: Request, _ url: String) throws(Problem) {
        guard request.method == .get else { return }
        let operations = self.bus.exposedOperations(of: url)
        // What is not exposed at all answers by the bus, as what does not exist.
        guard operations.contains(.calls), !operations.contains(.reads) else { return }
        var problem = Problem(.methodNotAllowed, "this may change something: use POST")
        problem.allowed = "POST"
        throw problem
    }

    /// The problem of a method that no URL takes.
    ///
    /// - Parameter path: the segments of the path behind that of the gateway.
    /// - Returns: the problem, with the methods that the URL takes.
    func methodNotAllowed(_ path: [Substring]) -> Problem {
        let url = "\(path.first ?? "")://\(path.dropFirst().joined(separator: "/"))"
        let operations = self.bus.exposedOperations(of: url)
        let isWrite = operations.contains(.calls) && !operations.contains(.reads)
        var problem = Problem(.methodNotAllowed, isWrite ? "use POST" : "use GET or POST")
        if isWrite { problem.allowed = "POST" }
        return problem
    }

    /// Answers with progress replies, reply or failure as events.
    private func stream(_ external: ExternalRequest, for request: Request) throws(Problem) -> Response {
        guard self.bus.exposedOperations(of: external.url).contains(.calls) else {
            throw Problem(self.bus.explainExposed(external.url).error ?? .noRoute(external.url))
        }
        return try self.stream(for: request) { sink in
            do {
                let reply = try await self.bus.route(external) { value in
                    await sink.send(ServerSentEvent("progress", try JSONWriter.encoded(value)))
                    return ()
                }
                await sink.send(ServerSentEvent("reply", try JSONWriter.encoded(reply.content)))
            } catch {
                await sink.send(ServerSentEvent("failure", self.problem(error, at: external.url).json))
            }
        }
    }
}

extension RoutingError {
    fileprivate static func noRoute(_ url: String) -> Self {
        Self(.noRoute, url: url, message: "no pattern matches")
    }
}

/// Runs a call and cancels it when its client goes away.
///
/// Hummingbird sees a client go only while it reads what comes after the request, and a connection that has
/// been read like that is closed after the response. So a call that is over quickly is not watched, and its
/// connection is used again.
struct CallWatch<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, any Error>

    private let grace: GracePeriods
    private let first = Race<Outcome>()

    /// Makes one for a call.
    ///
    /// - Parameter grace: says for how long the call is not watched.
    init(_ grace: GracePeriods) { self.grace = grace }

    /// Runs a call.
    ///
    /// - Returns: how it ended, and whether it was watched, so that its connection is closed.
    func run(
        for request: Request,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async -> (outcome: Outcome, isWatched: Bool) {
        let first = self.first
        // Begun here: a hop to another thread costs more than what the call does before it waits for its loop.
        let call = Task.immediate {
            let outcome: Outcome
            do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
            first.end(with: outcome)
            return outcome
        }
        let period = self.grace.begin { first.end(with: nil) }
        return await withTaskCancellationHandler {
            let early = await first.winner
            self.grace.end(period)
            if let early { return (early, false) }
            return (await self.watch(call, for: request), true)
        } onCancel: {
            call.cancel()
        }
    }

    private func watch(_ call: Task<Outcome, Never>, for request: Request) async -> Outcome {
        do {
            return try await request.body.consumeWithCancellationOnInboundClose { _ in
                await withTaskCancellationHandler {
                    await call.value
                } onCancel: {
                    call.cancel()
                }
            }
        } catch {
            call.cancel()
            return await call.value
        }
    }
}

/// The first of several ends; the others are ignored.
private final class Race<Value: Sendable>: Sendable {
    private enum State {
        case running
        case awaited(CheckedContinuation<Value?, Never>)
        case over(Value?)
    }

    private let state = Locked(State.running)

    /// Ends the race, unless it has ended.
    func end(with value: Value?) {
        let waiting: CheckedContinuation<Value?, Never>? = self.state.withLock { state in
            switch state {
            case .running:
                state = .over(value)
                return nil
            case .awaited(let continuation):
                state = .over(value)
                return continuation
            case .over: return nil
            }
        }
        waiting?.resume(returning: value)
    }

    /// What ended the race; called once.
    var winner: Value? {
        get async {
            await withCheckedContinuation { continuation in
                let value: Value?? = self.state.withLock { state in
                    if case .over(let value) = state { return .some(value) }
                    state = .awaited(continuation)
                    return nil
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }
}
#endif

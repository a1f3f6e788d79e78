#if Durable
internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// One attempt to handle a message of a store.
final class DurableAttempt: MessageSource {
    let message: StoredMessage
    let engine: StoreEngine
    /// The text that identifies the message in other processes.
    private let number: String
    /// The milliseconds for which the message was still valid when the attempt began; nil for no limit.
    private let lifetime: Int?
    private let state = Locked(State())

    private struct State {
        /// The encoded message to the return URL; nil when no value was sent.
        var returned: Result<StoredMessage, RoutingError>?
        /// Whether the handler has completed the message in a transaction.
        var isCompleted = false
        /// The outcome; nil while the attempt is underway.
        ///
        /// The attempts of a dead letter that is sent again have the same numbers as its earlier attempts.
        var outcome: Outcome?
    }

    private enum Outcome {
        /// The handler has returned without an error.
        case handled
        case failed(RoutingError)
        /// The bus has shut down, so the attempt does not count.
        case released
    }

    init(_ message: StoredMessage, number: String, lifetime: Int?, of engine: StoreEngine) {
        self.message = message
        self.number = number
        self.lifetime = lifetime
        self.engine = engine
    }

    /// Delivers the message to a handler, and puts the outcome into the inbox of the engine.
    func run(on bus: MessageBus) async {
        let policy = self.engine.settings.policies.policy(of: self.message.url)
        // No handler has begun, so the attempt does not count.
        guard bus.isOpen else { return self.end(.released, on: bus, by: policy) }
        do throws(RoutingError) {
            let details = try MessageDetails(decoding: self.message.details, for: self.message.url)
            var headers = details.headers
            // The value for a return URL comes from the handler. The store of another process must therefore
            // not accept a message with a return URL, so such a message has no number.
            if !self.message.url.utf8.contains(UInt8(ascii: "#")) {
                headers[DurableReceiver.header] = self.number
                headers[DurableReceiver.orderHeader] = self.message.order
                headers[DurableReceiver.lifetimeHeader] = self.lifetime.map(String.init)
            }
            _ = try await bus.route(
                url: self.message.url,
                parameters: details.parameters,
                headers: headers,
                payload: details.payload,
                correlationID: details.answers.map { CorrelationID(rawValue: UInt64(bitPattern: Int64($0))) },
                isExternal: details.isExternal,
                timeout: self.lifetime.map { min(policy.timeout, .milliseconds($0)) } ?? policy.timeout,
                source: self
            )
            self.end(.handled, on: bus, by: policy)
        } catch  where error.rootCause.code == .shutDown && !bus.isOpen && policy.attempts > 1 {
            // The handler has possibly begun, so a message with a single attempt is not attempted again.
            self.end(.released, on: bus, by: policy)
        } catch {
            self.end(.failed(error), on: bus, by: policy)
        }
    }

    /// Ends the attempt, and writes its outcome unless a transaction has completed the message.
    ///
    /// The outcome enters the inbox before the lock is released, so a value that is sent later follows the
    /// completion. Otherwise the value could be on disk without the completion when the process ends, and the
    /// next attempt would send a value again.
    private func end(_ outcome: Outcome, on bus: MessageBus, by policy: DurablePolicy) {
        let hasShutDown = !bus.isOpen
        let (outcome, isCompleted) = self.state.withLock { state in
            var outcome = outcome
            if case .handled = outcome, case .failure(let error) = state.returned { outcome = .failed(error) }
            state.outcome = outcome
            self.enqueue(outcome, isCompleted: state.isCompleted, stopsDelivery: hasShutDown, by: policy)
            return (outcome, state.isCompleted)
        }
        guard isCompleted, case .failed(let error) = outcome else { return }
        self.engine.settings.configuration.logger.warning(
            "the handler of a durable message failed after it had completed the message",
            metadata: ["url": "\(self.message.url)", "error": "\(error)"]
        )
    }

    private func enqueue(_ outcome: Outcome, isCompleted: Bool, stopsDelivery: Bool, by policy: DurablePolicy)
    {
        let write = { @Sendable (batch: Batch) in
            batch.state.lanes.freeSlot(in: self.message.lane)
            if stopsDelivery { batch.state.lanes.hasEnded = true }
            if isCompleted { return }
            switch outcome {
            case .handled: _ = try batch.complete(self.message, returning: self.returned())
            case .failed(let error): try batch.fail(self.message, with: error, by: policy)
            case .released: try batch.release(self.message)
            }
        }
        let failure: Logger.Message =
            "the outcome of a durable message was not written; the next process handles it again"
        self.engine.enqueue(StoreWork(retrying: write, failure: failure, url: self.message.url))
    }

    func sendReturn(_ value: any Sendable, to url: String, headers: [String: String]) {
        let returned = Result { () throws(RoutingError) in
            try self.encode(value, for: url, headers: headers)
        }
        let (outcome, isCompleted) = self.state.withLock { state in
            if state.outcome == nil { state.returned = returned }
            return (state.outcome, state.isCompleted)
        }
        switch outcome {
        case .failed, .released:
            self.logDroppedValue(to: url, because: "the attempt to handle the message has failed")
        case _ where isCompleted: self.logDroppedValue(to: url, because: Self.completedReason)
        case .handled:
            let log = { @Sendable (error: any Error) in self.logDroppedValue(to: url, because: "\(error)") }
            let work = StoreWork(mustSucceed: true) { batch in
                let result = Result { try batch.send(returned.get(), isFollowUp: true) }
                return { if case .failure(let error) = result { log(error) } }
            } reject: {
                log($0)
            }
            self.engine.enqueue(work)
        case nil: break
        }
    }

    private static let completedReason = "the result of the completion is sent instead"

    private func logDroppedValue(to url: String, because reason: String) {
        self.engine.settings.configuration.logger.warning(
            "the value for the return URL of a durable message is dropped",
            metadata: ["url": "\(self.message.url)", "return": "\(url)", "reason": "\(reason)"]
        )
    }

    /// Returns the message with the value that was sent to the return URL; nil if no value was sent.
    func returned() throws(RoutingError) -> StoredMessage? { try self.state.withLock { $0.returned }?.get() }

    func encode(
        _ value: any Sendable,
        for url: String,
        headers: [String: String]
    ) throws(RoutingError) -> StoredMessage {
        let details = MessageDetails(headers: headers, payload: value, answers: self.message.id)
        return try StoredMessage(url, details, by: self.engine.settings.policies)
    }

    var hasEnded: Bool { self.state.withLock { $0.outcome != nil } }

    /// Records that a transaction has completed the message, and whether it sent the value of `sendReturn`.
    func noteCompletion(to url: String?, sendingReturned hasSent: Bool) {
        let isDropped = self.state.withLock { state in
            state.isCompleted = true
            return state.returned != nil && !hasSent
        }
        if isDropped, let url { self.logDroppedValue(to: url, because: Self.completedReason) }
    }
}
#endif

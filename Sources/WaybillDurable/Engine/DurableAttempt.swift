#if Durable
internal import Logging
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// One attempt to handle a message of a store.
final class DurableAttempt: MessageSource {
    let message: BegunMessage
    let engine: StoreEngine
    /// The text that identifies the message in other processes.
    private let number: String
    /// The milliseconds for which the message was still valid when the attempt began; nil for no limit.
    private let lifetime: Int?
    private let state = Locked(State())

    private struct State {
        /// The encoded message to the return URL; nil when no value was sent.
        var returned: Result<NewMessage, RoutingError>?
        /// Whether the handler has completed the message in a transaction.
        var isCompleted = false
        /// Whether the handler has returned without an error; nil while the attempt is underway.
        ///
        /// The attempts of a dead letter that is sent again have the same numbers as its earlier attempts.
        var isHandled: Bool?
    }

    init(_ message: BegunMessage, number: String, lifetime: Int?, of engine: StoreEngine) {
        self.message = message
        self.number = number
        self.lifetime = lifetime
        self.engine = engine
    }

    /// Delivers the message to a handler, and puts the outcome into the inbox of the engine.
    func run(on bus: MessageBus) async {
        // No handler has begun, so the attempt does not count.
        guard bus.isOpen else { return self.end(stopsDelivery: true) { try $0.release(self.message) } }
        let policy = self.engine.settings.policies.policy(of: self.message.url)
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
            try self.endHandled()
        } catch  where error.code == .shutDown && !bus.isOpen {
            // The handler has possibly begun, so a message with a single attempt is not attempted again.
            self.end(stopsDelivery: true) { batch in
                if policy.attempts > 1 {
                    try batch.release(self.message)
                } else {
                    try batch.fail(self.message, with: error, by: policy)
                }
            }
        } catch {
            self.end(after: error) { try $0.fail(self.message, with: error, by: policy) }
        }
    }

    func sendReturn(_ value: any Sendable, to url: String, headers: [String: String]) {
        let returned = Result { () throws(RoutingError) in
            try self.encode(value, for: url, headers: headers)
        }
        let (isHandled, isCompleted) = self.state.withLock { state in
            if state.isHandled == nil { state.returned = returned }
            return (state.isHandled, state.isCompleted)
        }
        if isHandled == false {
            self.logDroppedValue(to: url, because: "the attempt to handle the message has failed")
        } else if isCompleted {
            self.logDroppedValue(to: url, because: Self.completedReason)
        } else if isHandled == true {
            let log = { @Sendable (error: any Error) in self.logDroppedValue(to: url, because: "\(error)") }
            let send = { @Sendable (batch: Batch) in _ = try batch.send(returned.get(), isFollowUp: true) }
            self.engine.enqueue(StoreWork(retrying: send, onFailure: log, reject: log))
        }
    }

    private static let completedReason = "the result of the completion is sent instead"

    private func logDroppedValue(to url: String, because reason: String) {
        self.engine.settings.configuration.logger.warning(
            "the value for the return URL of a durable message is dropped",
            metadata: ["url": "\(self.message.url)", "return": "\(url)", "reason": "\(reason)"]
        )
    }

    /// Ends the attempt whose handler has returned, and completes the message with the value for the return
    /// URL.
    ///
    /// The completion enters the inbox before the lock is released, so a value that is sent later follows the
    /// completion. Otherwise the value could be on disk without the completion when the process ends, and the
    /// next attempt would send a value again.
    private func endHandled() throws(RoutingError) {
        try self.state.withLock { state throws(RoutingError) in
            let returned = try state.returned?.get()
            state.isHandled = true
            self.enqueueOutcome(isCompleted: state.isCompleted) { batch in
                _ = try batch.complete(self.message, returning: returned)
            }
        }
    }

    /// Returns the message with the value that was sent to the return URL; nil if no value was sent.
    func returned() throws(RoutingError) -> NewMessage? { try self.state.withLock { $0.returned }?.get() }

    func encode(
        _ value: any Sendable,
        for url: String,
        headers: [String: String]
    ) throws(RoutingError) -> NewMessage {
        let details = MessageDetails(headers: headers, payload: value, answers: self.message.id)
        return try NewMessage(url, details, by: self.engine.settings.policies)
    }

    var hasEnded: Bool { self.state.withLock { $0.isHandled != nil } }

    /// Records that a transaction has completed the message, and whether it sent the value of `sendReturn`.
    func noteCompletion(to url: String?, sendingReturned hasSent: Bool) {
        let isDropped = self.state.withLock { state in
            state.isCompleted = true
            return state.returned != nil && !hasSent
        }
        if isDropped, let url { self.logDroppedValue(to: url, because: Self.completedReason) }
    }

    /// Ends an attempt whose handler has not returned, or has failed with an error.
    private func end(
        after error: RoutingError? = nil,
        stopsDelivery: Bool = false,
        _ write: @escaping @Sendable (Batch) throws -> Void
    ) {
        let isCompleted = self.state.withLock { state in
            state.isHandled = false
            return state.isCompleted
        }
        if isCompleted, let error {
            self.engine.settings.configuration.logger.warning(
                "the handler of a durable message failed after it had completed the message",
                metadata: ["url": "\(self.message.url)", "error": "\(error)"]
            )
        }
        self.enqueueOutcome(isCompleted: isCompleted, stopsDelivery: stopsDelivery, write)
    }

    /// Ends the attempt in the lane, and writes the outcome unless a transaction has completed the message.
    private func enqueueOutcome(
        isCompleted: Bool,
        stopsDelivery: Bool = false,
        _ write: @escaping @Sendable (Batch) throws -> Void
    ) {
        // A rejection needs no report: the file still contains the message, and the next process handles it.
        self.engine.enqueue(
            StoreWork { batch in
                batch.state.lanes.freeSlot(in: self.message.lane)
                if stopsDelivery { batch.state.lanes.hasEnded = true }
                if !isCompleted { try write(batch) }
            } onFailure: { error in
                self.engine.settings.configuration.logger.error(
                    "the outcome of a durable message was not written; the next process handles it again",
                    metadata: ["url": "\(self.message.url)", "error": "\(error)"]
                )
            }
        )
    }
}
#endif

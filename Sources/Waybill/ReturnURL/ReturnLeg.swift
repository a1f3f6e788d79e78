internal import WaybillEventLoop
public import WaybillRouting

/// The delivery of a reply's value to the return URL, which ends after the reply.
///
/// A caller can wait for the outcome of the delivery:
///
/// ```swift
/// let reply = try await bus.route("app://order/pay?total=42#home/receipt")
/// if case .failed(let error) = await reply.returnLeg?.outcome { print("the receipt is lost:", error) }
/// ```
///
/// If the delivery fails, the value's message becomes a dead letter, but the request does not fail.
public struct ReturnLeg: Sendable {
    let path: ReturnPath

    /// The return URL, even if the handler has declined to send a value.
    public var url: String { self.path.url }

    /// The correlation ID of the request, the reply and the message to the return URL.
    public var correlationID: CorrelationID { self.path.correlationID }

    /// The outcome of the delivery.
    @nonexhaustive
    public enum Outcome: Sendable {
        /// The delivery has not ended.
        case underway
        /// The handler of the return URL has received the value and returned.
        case delivered
        /// The delivery failed, and the message became a dead letter.
        case failed(RoutingError)
        /// The handler of the request has declined to send the value.
        case declined
        /// Another process or a durable store sends the value, and only it knows the outcome.
        case forwarded
    }

    /// The outcome so far.
    public var current: Outcome { self.path.outcome }

    /// The final outcome of the delivery.
    ///
    /// The caller waits in its own isolation until the handler of the return URL has returned, but not for
    /// the delivery to a return URL of the return URL. A cancelled caller receives ``Outcome/underway``.
    public var outcome: Outcome {
        get async {
            await EventLoop.yieldIfDue()
            guard case .underway = self.current else { return self.current }
            return await self.path.finalOutcome()
        }
    }
}

extension ReturnPath {
    fileprivate nonisolated(nonsending) func finalOutcome() async -> ReturnLeg.Outcome {
        let number = self.state.withLock { $0.waiting.nextNumber() }
        let waiter = Waiter(on: .current)
        return await waiter.wait(isolation: #isolation) {
            let outcome = self.state.withLock { state in
                // Resume a waiter at once if it is already cancelled.
                if case .underway = state.outcome, !Task.isCancelled {
                    state.waiting.add(waiter, as: number)
                    return nil as ReturnLeg.Outcome?
                }
                return state.outcome
            }
            if let outcome { waiter.resume(returning: outcome) }
        } onCancel: {
            self.state.withLock { $0.waiting.remove(number) }?.resume(returning: .underway)
        }
    }
}

/// The return URL of a message, and the outcome of the delivery to this URL.
///
/// One value is sent: by the handler, or by the bus when the handler has replied.
final class ReturnPath: Sendable {
    /// The ID of the message whose reply goes to the return URL.
    let correlationID: CorrelationID
    private let scheme: String
    private let hops: Int
    /// The store that sends the value; nil when the bus sends it.
    private let source: (any MessageSource)?
    fileprivate let state: Locked<State>

    /// A caller that waits for the outcome.
    typealias Waiter = LoopContinuation<ReturnLeg.Outcome>

    fileprivate struct State {
        var url: String
        /// The peer that gave the URL; nil for a URL of this process.
        var external: ExternalCaller?
        var outcome = ReturnLeg.Outcome.underway
        /// The core that sends the value; a reply or a dead letter that a program keeps must not retain it.
        weak var sender: BusCore?
        /// Whether a value can still be sent or declined.
        var isOpen = true
        var waiting = Numbered<Waiter>()
        var isHeld = false
    }

    init(
        _ id: CorrelationID,
        to url: String,
        scheme: String,
        hops: Int,
        sender: BusCore,
        from external: ExternalCaller? = nil,
        source: (any MessageSource)? = nil
    ) {
        self.correlationID = id
        self.scheme = scheme
        self.hops = hops
        self.source = source
        self.state = Locked(State(url: url, external: external, sender: sender))
    }

    /// The return URL, even if the value has been sent or declined.
    var url: String { self.state.withLock { $0.url } }

    /// The return URL; nil when the value has been sent or declined.
    var pendingURL: String? { self.state.withLock { $0.isOpen ? $0.url : nil } }

    var outcome: ReturnLeg.Outcome { self.state.withLock { $0.outcome } }

    /// Whether the bus sends no value when the handler returns, because other code sends a value later.
    var isHeld: Bool { self.state.withLock { $0.isHeld } }

    func hold() { self.state.withLock { $0.isHeld = true } }

    /// Sends a value with the headers of the message that it answers, or returns false when a value has been
    /// sent or declined before.
    @discardableResult
    func send(_ value: any Sendable, headers: [String: String]) -> Bool {
        guard self.take() else { return false }
        let (sender, url, external) = self.state.withLock { ($0.sender, $0.url, $0.external) }
        guard let sender else {
            self.end(.failed(.shutDown(url: url)))
            return true
        }
        if let source {
            source.sendReturn(value, to: url, headers: headers)
            self.end(.forwarded)
            return true
        }
        let extras = MessageExtras(
            payload: value,
            headers: headers,
            correlationID: self.correlationID,
            isReturnOf: self,
            external: external
        )
        // No caller waits for this message, so it does not inherit the deadline of the caller.
        let request = Request(url: url, extras: extras, hops: self.hops + 1)
        if let external {
            if external.take(value, at: url, headers) {
                self.end(.delivered)
            } else {
                // The bus ends this part when it settles the message.
                external.work?.addPart()
                sender.sendReturn(request, of: external.audience)
            }
        } else {
            sender.send(request, isOwn: false)
        }
        return true
    }

    /// Decides that the value is sent or declined, or returns false when that has been decided.
    private func take() -> Bool { self.state.withLock { Swift.exchange(&$0.isOpen, with: false) } }

    func replace(with url: String) -> Bool {
        guard let sender = self.state.withLock({ $0.sender }) else { return false }
        let url = sender.complete(url, scheme: self.scheme)
        return self.state.withLock { state in
            guard state.isOpen else { return false }
            state.url = url
            // This process chose the new URL and not the peer, so the URL need not be exposed.
            state.external = nil
            return true
        }
    }

    /// Ends the delivery without a value, or returns false when a value has been sent or declined before.
    func close(as outcome: ReturnLeg.Outcome) -> Bool {
        guard self.take() else { return false }
        self.end(outcome)
        return true
    }

    /// Records the outcome, and resumes the callers that wait for the outcome.
    func end(_ outcome: ReturnLeg.Outcome) {
        let waiting = self.state.withLock { state in
            state.outcome = outcome
            return state.waiting.takeAll()
        }
        for waiter in waiting { waiter.resume(returning: outcome) }
    }
}

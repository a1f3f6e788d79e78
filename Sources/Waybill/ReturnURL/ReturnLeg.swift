internal import WaybillEventLoop
public import WaybillRouting

/// What became of a reply's value on its way to the return URL: the trace that a ``Reply`` keeps of it.
///
/// The leg begins when the handler has replied, so its end comes after the reply; a caller can wait for it:
///
/// ```swift
/// let reply = try await bus.route("app://order/pay?total=42#home/receipt")
/// if case .failed(let error) = await reply.returnLeg?.outcome { print("the receipt is lost:", error) }
/// ```
///
/// A leg that fails is a dead letter too, and never a failure of the request that it belongs to.
public struct ReturnLeg: Sendable {
    let path: ReturnPath

    /// Where the value went, or would have gone if the handler had not declined it.
    public var url: String { self.path.url }

    /// The ID that the message on the return URL carries: that of the request, as the reply has it.
    public var correlationID: CorrelationID { self.path.correlationID }

    /// What became of the value.
    @nonexhaustive
    public enum Outcome: Sendable {
        /// Nothing yet.
        case underway
        /// The handler of the return URL took it and returned.
        case delivered
        /// It is a dead letter, with the reason.
        case failed(RoutingError)
        /// The handler of the request has declined it.
        case declined
        /// Another node of a cluster has the request, and sends its value there by itself: what becomes of it
        /// is known there.
        case forwarded
    }

    /// What has become of the value so far.
    public var current: Outcome { self.path.outcome }

    /// What became of the value in the end.
    ///
    /// The caller waits where it is isolated, until the handler of the return URL is done. A return URL of
    /// that URL is a leg of its own, and not waited for. A caller that is cancelled gets
    /// ``Outcome/underway``.
    public var outcome: Outcome {
        get async {
            await EventLoop.yieldIfDue()
            guard case .underway = self.current else { return self.current }
            return await self.path.end()
        }
    }
}

extension ReturnPath {
    fileprivate nonisolated(nonsending) func end() async -> ReturnLeg.Outcome {
        let number = self.nextNumber()
        let waiter = Waiter(on: .current)
        return await waiter.wait(isolation: #isolation) {
            self.wait(number, waiter)
        } onCancel: {
            self.giveUp(number)
        }
    }
}

/// Where the value of one reply goes beside its caller, and how it ends there.
///
/// Only a message with a return URL has one. The value is sent once: by the handler, or when the handler has
/// replied.
final class ReturnPath: Sendable {
    /// The ID of the message that is answered.
    let correlationID: CorrelationID
    private let scheme: String
    private let hops: Int
    private let state: Locked<State>

    /// A caller that waits for the outcome.
    typealias Waiter = LoopContinuation<ReturnLeg.Outcome>

    private struct State {
        var url: String
        /// The peer that gave the URL; nil for a URL of this process.
        var external: ExternalCaller?
        var outcome = ReturnLeg.Outcome.underway
        /// The core that can send the value, until it has been sent or declined: a reply that is kept must
        /// not keep the bus.
        var sender: BusCore?
        var waiting: [Int: Waiter] = [:]
        var lastNumber = 0
        /// Whether the end of the handler sends nothing.
        var isHeld = false
    }

    init(
        _ id: CorrelationID,
        to url: String,
        scheme: String,
        hops: Int,
        sender: BusCore,
        from external: ExternalCaller? = nil
    ) {
        self.correlationID = id
        self.scheme = scheme
        self.hops = hops
        self.state = Locked(State(url: url, external: external, sender: sender))
    }

    /// Where the value goes, has gone, or would have gone.
    var url: String { self.state.withLock { $0.url } }

    /// Where the value will go, if it has not been sent or declined.
    var pendingURL: String? { self.state.withLock { $0.sender == nil ? nil : $0.url } }

    var outcome: ReturnLeg.Outcome { self.state.withLock { $0.outcome } }

    /// Whether the value is sent later than the handler ends.
    var isHeld: Bool { self.state.withLock { $0.isHeld } }

    func hold() { self.state.withLock { $0.isHeld = true } }

    /// Sends a value, with the headers of the message that it answers, unless one has been sent already, or
    /// none shall be.
    @discardableResult
    func send(_ value: any Sendable, headers: [String: String]) -> Bool {
        let (sender, url, external) = self.state.withLock { ($0.sender.take(), $0.url, $0.external) }
        guard let sender else { return false }
        let extras = MessageExtras(
            payload: value,
            headers: headers,
            correlationID: self.correlationID,
            isReturnOf: self,
            external: external
        )
        // No caller waits for it, so it does not have the deadline of the caller that waited for the reply.
        let request = Request(url: url, extras: extras, hops: self.hops + 1)
        if let external {
            if external.take(value, at: url, headers) {
                self.end(.delivered)
            } else {
                sender.sendReturn(request, of: external.audience)
            }
        } else {
            sender.send(request, isOwn: false)
        }
        return true
    }

    func replace(with url: String) -> Bool {
        guard let sender = self.state.withLock({ $0.sender }) else { return false }
        let url = sender.complete(url, scheme: self.scheme)
        return self.state.withLock { state in
            guard state.sender != nil else { return false }
            state.url = url
            // The handler's own URL, which may lead anywhere.
            state.external = nil
            return true
        }
    }

    func decline() -> Bool { self.close(as: .declined) }

    func forward() -> Bool { self.close(as: .forwarded) }

    /// Ends the way here, with nothing sent.
    private func close(as outcome: ReturnLeg.Outcome) -> Bool {
        let sender = self.state.withLock { $0.sender.take() }
        guard sender != nil else { return false }
        self.end(outcome)
        return true
    }

    /// Notes what became of the value.
    func end(_ outcome: ReturnLeg.Outcome) {
        let waiting = self.state.withLock { state in
            defer { state.waiting = [:] }
            state.outcome = outcome
            return state.waiting
        }
        for waiter in waiting.values { waiter.resume(returning: outcome) }
    }
}

extension ReturnPath {
    /// A number for a caller that is going to wait.
    func nextNumber() -> Int {
        self.state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Resumes a waiting caller with the outcome, as soon as there is one.
    func wait(_ number: Int, _ waiter: Waiter) {
        let outcome = self.state.withLock { state in
            // A waiter that is cancelled already is resumed at once.
            if case .underway = state.outcome, !Task.isCancelled {
                state.waiting[number] = waiter
                return nil as ReturnLeg.Outcome?
            }
            return state.outcome
        }
        if let outcome { waiter.resume(returning: outcome) }
    }

    /// Resumes a caller that no longer waits.
    func giveUp(_ number: Int) {
        let waiter = self.state.withLock { $0.waiting.removeValue(forKey: number) }
        waiter?.resume(returning: .underway)
    }
}

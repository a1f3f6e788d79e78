internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// The calls and messages of a connection that wait for a turn, in the order in which they came.
struct WaitingCalls {
    struct Call {
        /// The request; nil for a message that nobody awaits.
        let number: ServedRequests.Number?
        /// Ends the call when its deadline passes.
        let timer: ScheduledTimer?
        let start: (isolated RPCSession) -> Void
    }

    private var calls: [Call] = []
    /// The calls before this index have begun.
    private var first = 0

    var isEmpty: Bool { self.first == self.calls.count }
    var count: Int { self.calls.count - self.first }

    mutating func append(_ call: Call) { self.calls.append(call) }

    mutating func popFirst() -> Call? {
        guard !self.isEmpty else { return nil }
        let call = self.calls[self.first]
        self.first += 1
        if self.first > 64, self.first * 2 > self.calls.count {
            self.calls.removeFirst(self.first)
            self.first = 0
        }
        return call
    }

    mutating func remove(_ number: ServedRequests.Number) -> Call? {
        guard let index = self.calls[self.first...].firstIndex(where: { $0.number == number }) else {
            return nil
        }
        return self.calls.remove(at: index)
    }
}

// Calls run when it is the connection's turn.
extension RPCSession {
    /// Runs a call or message now, or when the connection has a turn, behind those that wait already.
    ///
    /// - Parameters:
    ///   - number: The request; nil for a message that nobody awaits.
    ///   - deadline: When a request stops waiting.
    ///   - start: Begins to handle it.
    func inTurn(
        _ number: ServedRequests.Number?,
        deadline: ContinuousClock.Instant? = nil,
        _ start: @escaping (isolated RPCSession) -> Void
    ) throws(RPCFailure) {
        guard let load = self.load else { return start(self) }
        let connection = self.connectionNumber
        if load.assumeOnLoop({ $0.ask(connection) }) { return self.start(number, start) }
        guard number != nil || self.waitingCalls.count < self.limits.requestsInFlight else {
            load.assumeOnLoop { $0.withdraw(connection) }
            throw .limit(
                "\(self.limits.requestsInFlight) messages of this connection wait, which is the limit"
            )
        }
        let timer = number.flatMap { number in
            deadline.map { deadline in
                self.eventLoop.schedule(at: Deadline(deadline)) { [weak self] in
                    self?.assumeOnLoop { _ = $0.endWaiting(number, .deadlineExceeded) }
                }
            }
        }
        self.waitingCalls.append(WaitingCalls.Call(number: number, timer: timer, start: start))
    }

    /// Begins the call that has waited longest: it is the connection's turn.
    func startWaiting() {
        guard let call = self.waitingCalls.popFirst() else { return }
        call.timer?.cancel()
        self.start(call.number, call.start)
        self.channel.flushSoon()
    }

    private func start(_ number: ServedRequests.Number?, _ start: (isolated RPCSession) -> Void) {
        guard let number else {
            start(self)
            self.load?.assumeOnLoop { [connection = self.connectionNumber] in $0.end(connection) }
            return self.closeIfDrained()
        }
        self.running.insert(number)
        start(self)
    }

    /// Gives the place of a request back, if it has one.
    func leavePlace(_ number: ServedRequests.Number) {
        guard self.running.remove(number) != nil else { return }
        self.load?.assumeOnLoop { [connection = self.connectionNumber] in $0.end(connection) }
    }

    /// Fails a request that waits for a turn.
    ///
    /// - Returns: Whether it was waiting.
    func endWaiting(_ number: ServedRequests.Number, _ code: RoutingError.Code) -> Bool {
        guard let call = self.waitingCalls.remove(number) else { return false }
        call.timer?.cancel()
        self.load?.assumeOnLoop { [connection = self.connectionNumber] in $0.withdraw(connection) }
        let error = RoutingError(code, message: "the request ended before it was handled")
        self.finish(number, with: self.failure(error))
        self.channel.flushSoon()
        return true
    }
}

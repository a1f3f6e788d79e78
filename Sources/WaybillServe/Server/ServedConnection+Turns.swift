internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// The calls and messages of a connection that wait for permission to run.
///
/// They are in the order of their arrival. ``CallTurns`` decides which of them may run, and explains the word
/// place.
struct WaitingCalls {
    struct Call: Sendable {
        /// The number of the request; nil for a message without a response.
        let number: ServedRequests.Number?
        /// The size of a message without a response, in bytes; 0 for a request.
        let bytes: Int
        /// The timer that fails the call at its deadline.
        let timer: ScheduledTimer?
        let start: RPCSession.Start
        /// The session, if its connection has been closed; nil while the session retains this value.
        var session: RPCSession?
    }

    private var calls: [Call] = []
    /// The calls before this index have begun.
    private var first = 0
    /// The size of the messages without a response, in bytes.
    private(set) var bytes = 0

    var isEmpty: Bool { self.first == self.calls.count }
    var count: Int { self.calls.count - self.first }

    mutating func append(_ call: Call) {
        self.calls.append(call)
        self.bytes += call.bytes
    }

    mutating func popFirst() -> Call? {
        guard !self.isEmpty else { return nil }
        let call = self.calls[self.first]
        self.first += 1
        self.bytes -= call.bytes
        // Release the calls that have begun.
        if self.isEmpty || self.first > 64 && self.first * 2 > self.calls.count {
            self.calls.removeFirst(self.first)
            self.first = 0
        }
        return call
    }

    mutating func removeAll() -> ArraySlice<Call> {
        defer { self = WaitingCalls() }
        return self.calls[self.first...]
    }

    mutating func remove(_ number: ServedRequests.Number) -> Call? {
        guard let index = self.calls[self.first...].firstIndex(where: { $0.number == number }) else {
            return nil
        }
        let call = self.calls.remove(at: index)
        self.bytes -= call.bytes
        return call
    }
}

extension ServedConnection {
    /// Runs a call or message now, or later when the connection may run another call.
    ///
    /// The messages that wait already run first.
    ///
    /// `number` is nil for a message without a response, whose size in bytes is `bytes`. A waiting request
    /// fails at the deadline.
    ///
    /// - Throws: The failure for the peer, when the waiting calls have reached a limit.
    func inTurn(
        _ number: ServedRequests.Number?,
        bytes: Int,
        deadline: ContinuousClock.Instant?,
        in session: isolated RPCSession,
        start: @escaping RPCSession.Start
    ) throws(RPCFailure) {
        let connection = self.number
        let hasPlace = self.load.assumeOnLoop { $0.ask(connection) }
        if hasPlace, self.waitingCalls.isEmpty { return self.begin(number, in: session, start: start) }
        let failure =
            self.load.assumeOnLoop { $0.isCrowded }
            ? .limit("\(session.limits.waitingCallsOfAll) calls of all connections wait, which is the limit")
            : number == nil ? self.waitingFailure(bytes, in: session) : nil
        if let failure {
            self.load.assumeOnLoop { hasPlace ? $0.end(connection) : $0.withdraw(connection) }
            throw failure
        }
        let timer = number.flatMap { number in
            deadline.map { deadline in
                session.eventLoop.schedule(at: Deadline(deadline)) { [weak session] in
                    session?.assumeOnLoop { _ = $0.connection?.endWaiting(number, .deadlineExceeded, in: $0) }
                }
            }
        }
        self.waitingCalls.append(WaitingCalls.Call(number: number, bytes: bytes, timer: timer, start: start))
        self.countReceivedBytes(of: session)
        // The earlier calls also have places but have not started yet. Start this call after them.
        if hasPlace { self.load.assumeOnLoop { $0.startWaitingCall(of: connection) } }
    }

    /// Returns the failure for a message without a response when too many messages wait; nil otherwise.
    private func waitingFailure(_ bytes: Int, in session: isolated RPCSession) -> RPCFailure? {
        do throws(RPCFailure) { try self.checkRoom(for: bytes, in: session) } catch { return error }
        if self.waitingCalls.count >= session.limits.requestsInFlight {
            return .limit(
                "\(session.limits.requestsInFlight) messages of this connection wait, which is the limit"
            )
        }
        let limit = session.limits.requestBytesInFlight
        guard self.waitingCalls.bytes + bytes > limit else { return nil }
        return .limit("the waiting messages of this connection would exceed \(limit) bytes")
    }

    /// Begins the call that has waited longest, because the connection has a place for this call.
    func startWaiting(_ session: isolated RPCSession) {
        if session.phase != .closed, !self.waitingCalls.isEmpty,
            self.channel.unsentBytes > session.limits.unreadBytes
        {
            return self.pause(session)
        }
        // If the waiting call has ended after its place was assigned, give the place back.
        guard session.phase != .closed, let call = self.waitingCalls.popFirst() else {
            return self.givePlaceBack()
        }
        call.timer?.cancel()
        self.countReceivedBytes(of: session)
        self.begin(call.number, in: session, start: call.start)
        self.channel.flushSoon()
    }

    /// Gives the place back until the peer has read its answers.
    ///
    /// More calls would only produce more unread answers.
    private func pause(_ session: isolated RPCSession) {
        self.givePlaceBack()
        self.callsWithoutPlace += 1
        guard self.callsWithoutPlace == 1 else { return }
        Task {
            await session.channel.flush()
            session.connection?.askForPlaces(session)
        }
    }

    private func askForPlaces(_ session: isolated RPCSession) {
        let (count, connection) = (self.callsWithoutPlace, self.number)
        self.callsWithoutPlace = 0
        guard session.phase != .closed else { return }
        self.load.assumeOnLoop { load in
            for _ in 0..<count where load.ask(connection) { load.startWaitingCall(of: connection) }
        }
    }

    private func begin(
        _ number: ServedRequests.Number?,
        in session: isolated RPCSession,
        start: RPCSession.Start
    ) {
        let work = ExternalWork { [load, number = self.number] in load.endOnAnyThread(number) }
        session.startWork(number, work, start)
        if number == nil { self.closeIfDrained(session) }
    }

    private func givePlaceBack() { self.load.assumeOnLoop { [number] in $0.end(number) } }

    /// Fails a request that waits for permission to run, and returns whether the request was waiting.
    func endWaiting(
        _ number: ServedRequests.Number,
        _ code: RoutingError.Code,
        in session: isolated RPCSession
    ) -> Bool {
        guard let call = self.waitingCalls.remove(number) else { return false }
        call.timer?.cancel()
        if self.callsWithoutPlace > 0 {
            self.callsWithoutPlace -= 1
        } else {
            self.load.assumeOnLoop { [connection = self.number] in $0.withdraw(connection) }
        }
        let error = RoutingError(code, message: "the request ended before it was handled")
        session.fail(number, with: session.failure(error))
        self.channel.flushSoon()
        return true
    }

    /// Removes all waiting calls, because the peer is disconnected.
    ///
    /// - Returns: The messages without a response, which are still handled.
    func takeWaitingMessages() -> [WaitingCalls.Call] {
        let calls = self.waitingCalls.removeAll()
        for call in calls { call.timer?.cancel() }
        return calls.filter { $0.number == nil }
    }
}

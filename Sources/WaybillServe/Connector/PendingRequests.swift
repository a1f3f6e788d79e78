package import WaybillEventLoop
package import WaybillJSON

/// An event of a request to a server.
package enum PendingEvent: Sendable {
    /// A progress reply, which has to be answered.
    case progress(JSONText)
    /// A value for the return URL.
    case returned(JSONText, headers: [String: String])
    case finished(Result<JSONText, RPCFailure>)
    /// The connection has ended, for the reason given.
    case lost(String)
    /// The caller was cancelled.
    case cancelled
}

/// The unanswered requests to a server and their events.
///
/// The value performs no I/O.
///
/// The events of a request are read in order. If the caller waits, it receives an event immediately.
///
/// The type is not generic, because another module would look up its type metadata for each call.
package struct PendingRequests: Sendable {
    package typealias Waiter = LoopContinuation<PendingEvent>

    /// The most events that wait for one request: a server waits for the answer to a progress reply.
    private static var limit: Int { 64 }

    private struct Request: Sendable {
        var events: [PendingEvent] = []
        var waiter: Waiter?
    }

    private var requests: [Int: Request] = [:]
    private var lastID = 0

    package init() {}

    package var count: Int { self.requests.count }

    /// Begins a request.
    ///
    /// - Returns: Its ID.
    package mutating func open() -> Int {
        self.lastID += 1
        self.requests[self.lastID] = Request()
        return self.lastID
    }

    /// Begins a request whose ID cannot be guessed.
    ///
    /// - Returns: Its ID.
    package mutating func openUnguessable() -> Int {
        var id: Int
        // A whole number also for JSON readers that have only `Double`.
        repeat { id = Int.random(in: 1..<(1 << 53)) } while self.requests[id] != nil
        self.requests[id] = Request()
        return id
    }

    /// Whether a request has not ended.
    package func contains(_ id: Int) -> Bool { self.requests[id] != nil }

    /// Ends a request and drops its later events.
    package mutating func close(_ id: Int) { self.requests[id] = nil }

    /// Takes the next event of a request, or registers a waiter for it.
    ///
    /// - Returns: The event, or nil when the waiter will receive it.
    package mutating func take(_ id: Int, _ waiter: Waiter) -> PendingEvent? {
        guard var request = self.requests[id] else { return .cancelled }
        guard request.events.isEmpty else {
            let event = request.events.removeFirst()
            self.requests[id] = request
            return event
        }
        request.waiter = waiter
        self.requests[id] = request
        return nil
    }

    /// Notes what has come for a request.
    ///
    /// - Returns: The waiter that gets it now, if the caller waits.
    package mutating func deliver(_ event: PendingEvent, to id: Int) -> (Waiter, PendingEvent)? {
        guard var request = self.requests[id] else { return nil }
        defer { self.requests[id] = request }
        if let waiter = request.waiter.take() { return (waiter, event) }
        if case .cancelled = event {
            // The last event makes all earlier events irrelevant.
            request.events = [event]
        } else if request.events.count < Self.limit {
            request.events.append(event)
        } else {
            request.events = [.lost("it sends progress replies that it does not have answered")]
        }
        return nil
    }

    /// Ends the wait of every request.
    package mutating func loseAll(_ reason: String) -> [(Waiter, PendingEvent)] {
        self.requests.keys.compactMap { self.deliver(.lost(reason), to: $0) }
    }
}

package import WaybillEventLoop
package import WaybillJSON

/// An event of a request to a server.
package enum PendingEvent: Sendable {
    /// A progress reply, which the caller has to answer.
    case progress(JSONText)
    /// A value for the return URL of the message.
    case returned(JSONText, headers: [String: String])
    case finished(Result<JSONText, RPCFailure>)
    /// The connection has ended.
    ///
    /// The text is the reason.
    case lost(String)
    /// The caller was cancelled.
    case cancelled
}

/// The requests to a server that have not been answered, and the events that their callers have not received.
///
/// This type is a value that performs no I/O. The events of a request are delivered in the order in which
/// they arrived. If the caller of the request already waits, the caller receives an event at once.
///
/// The type is not generic, because code in another module would have to look up the types of its stored
/// properties for each call.
package struct PendingRequests: Sendable {
    package typealias Waiter = LoopContinuation<PendingEvent>

    /// The maximum number of events of one request that its caller has not received.
    ///
    /// A server that waits for the answer to each progress reply does not exceed the limit.
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
    /// - Returns: The ID of the request.
    package mutating func open() -> Int {
        self.lastID += 1
        self.requests[self.lastID] = Request()
        return self.lastID
    }

    /// Begins a request whose ID cannot be guessed.
    ///
    /// - Returns: The ID of the request.
    package mutating func openUnguessable() -> Int {
        var id: Int
        // JSON readers that store numbers as `Double` can represent every number of this range.
        repeat { id = Int.random(in: 1..<(1 << 53)) } while self.requests[id] != nil
        self.requests[id] = Request()
        return id
    }

    /// Returns whether a request is open.
    package func contains(_ id: Int) -> Bool { self.requests[id] != nil }

    /// Ends a request.
    ///
    /// Later events of the request are dropped.
    package mutating func close(_ id: Int) { self.requests[id] = nil }

    /// Returns the next event of a request, or stores the waiter until an event arrives.
    ///
    /// - Returns: The event; nil if the waiter will receive the event.
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

    /// Delivers an event to a request, or enqueues it.
    ///
    /// - Returns: The waiter to resume with the event; nil if the caller does not wait.
    package mutating func deliver(_ event: PendingEvent, to id: Int) -> (Waiter, PendingEvent)? {
        guard var request = self.requests[id] else { return nil }
        defer { self.requests[id] = request }
        if let waiter = request.waiter.take() { return (waiter, event) }
        if case .cancelled = event {
            // The caller does not need the events that arrived before the cancellation.
            request.events = [event]
        } else if request.events.count < Self.limit {
            request.events.append(event)
        } else {
            request.events = [.lost("the server sends progress replies faster than this client answers them")]
        }
        return nil
    }

    /// Delivers an event to every request when the connection has ended, and returns the waiters to resume.
    package mutating func endAll(with event: PendingEvent) -> [(Waiter, PendingEvent)] {
        self.requests.keys.compactMap { self.deliver(event, to: $0) }
    }
}

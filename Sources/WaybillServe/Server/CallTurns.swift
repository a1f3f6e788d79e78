/// Decides which calls of a server's connections may run, and which calls have to wait.
///
/// This type is a value that performs no I/O. Each connection may always run a guaranteed number of calls, so
/// other connections cannot block it. The number of further calls that may run is limited for all connections
/// together; each of these calls has a *shared place*. When no shared place is free, connections take turns,
/// even if one connection has many more waiting calls than another.
struct CallTurns<Connection: Hashable & Sendable>: Sendable {
    private struct Calls {
        var running = 0
        var waiting = 0
        /// Whether the connection is in ``turns``.
        var hasTurn = false

        var isOver: Bool { self.running + self.waiting == 0 && !self.hasTurn }
    }

    private let guaranteed: Int
    private let shared: Int
    /// The number of running calls of all connections that use shared places.
    private var sharedRunning = 0
    private var calls: [Connection: Calls] = [:]
    /// The number of waiting calls of all connections.
    private(set) var waiting = 0
    /// The connections that have waiting calls, in the order of their turns.
    ///
    /// The turns before the index ``next`` are over.
    private var turns: [Connection] = []
    private var next = 0

    init(guaranteed: Int, shared: Int) {
        self.guaranteed = max(1, guaranteed)
        self.shared = max(0, shared)
    }

    /// Asks for permission to run a call.
    ///
    /// - Returns: Whether the call may run now. If the result is false, the call waits until ``end(_:)`` or
    ///   ``close(_:movingCallsTo:)`` returns its connection.
    mutating func ask(_ connection: Connection) -> Bool {
        var calls = self.calls[connection] ?? Calls()
        if calls.waiting == 0, self.start(connection) { return true }
        if !calls.hasTurn { self.turns.append(connection) }
        calls.hasTurn = true
        calls.waiting += 1
        self.waiting += 1
        self.calls[connection] = calls
        return false
    }

    /// Ends a running call, and returns the connections that may now run the call that has waited longest.
    mutating func end(_ connection: Connection) -> [Connection] {
        guard var calls = self.calls[connection], calls.running > 0 else { return [] }
        if calls.running > self.guaranteed { self.sharedRunning -= 1 }
        calls.running -= 1
        self.calls[connection] = calls.isOver ? nil : calls
        // A place is free now, which is either a guaranteed place of this connection or a shared place.
        if calls.waiting > 0, calls.running < self.guaranteed {
            self.startWaiting(connection)
            return [connection]
        }
        return self.takeTurns()
    }

    /// Removes a waiting call.
    mutating func withdraw(_ connection: Connection) {
        guard var calls = self.calls[connection], calls.waiting > 0 else { return }
        calls.waiting -= 1
        self.waiting -= 1
        self.calls[connection] = calls.isOver ? nil : calls
    }

    /// Removes a closed connection and its waiting calls, and moves its running calls to another connection.
    ///
    /// The running calls then possibly use more shared places than the limit allows. No other call gets a
    /// shared place until enough of them have ended.
    ///
    /// - Returns: The connections that may now run the call that has waited longest.
    mutating func close(_ connection: Connection, movingCallsTo other: Connection) -> [Connection] {
        guard let calls = self.calls.removeValue(forKey: connection) else { return [] }
        self.waiting -= calls.waiting
        if calls.hasTurn {
            self.turns.removeFirst(self.next)
            self.next = 0
            self.turns.removeAll { $0 == connection }
        }
        var rest = self.calls[other] ?? Calls()
        let before = self.sharedPlaces(of: calls.running) + self.sharedPlaces(of: rest.running)
        rest.running += calls.running
        self.sharedRunning += self.sharedPlaces(of: rest.running) - before
        self.calls[other] = rest.isOver ? nil : rest
        var started: [Connection] = []
        while true {
            let more = self.takeTurns()
            if more.isEmpty { return started }
            started += more
        }
    }

    /// The number of connections whose guaranteed calls are in use by the calls beyond the shared places.
    ///
    /// Only calls of closed connections are beyond the shared places.
    var connectionsInUse: Int {
        let excess = self.sharedRunning - self.shared
        return excess > 0 ? (excess - 1) / self.guaranteed + 1 : 0
    }

    /// The number of shared places that a connection uses for its running calls.
    private func sharedPlaces(of running: Int) -> Int { max(0, running - self.guaranteed) }

    private mutating func start(_ connection: Connection) -> Bool {
        let running = self.calls[connection]?.running ?? 0
        if running >= self.guaranteed {
            guard self.sharedRunning < self.shared else { return false }
            self.sharedRunning += 1
        }
        self.calls[connection, default: Calls()].running += 1
        return true
    }

    private mutating func startWaiting(_ connection: Connection) {
        self.calls[connection]?.waiting -= 1
        self.waiting -= 1
        _ = self.start(connection)
    }

    /// Gives a shared place to a call of the connection whose turn it is.
    private mutating func takeTurns() -> [Connection] {
        while self.next < self.turns.count, self.sharedRunning < self.shared {
            let connection = self.turns[self.next]
            self.next += 1
            self.dropPastTurns()
            guard var calls = self.calls[connection] else { continue }
            calls.hasTurn = calls.waiting > 1
            self.calls[connection] = calls.isOver ? nil : calls
            if calls.hasTurn { self.turns.append(connection) }
            // Calls of the connection have possibly begun in guaranteed places, so that none of them waits
            // now.
            guard calls.waiting > 0 else { continue }
            self.startWaiting(connection)
            return [connection]
        }
        return []
    }

    private mutating func dropPastTurns() {
        guard self.next > 64, self.next * 2 > self.turns.count else { return }
        self.turns.removeFirst(self.next)
        self.next = 0
    }
}

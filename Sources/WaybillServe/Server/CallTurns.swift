/// Decides which calls of a server's connections run and which wait; a value that performs no I/O.
///
/// Each connection has a number of calls that always run, so no other connection can block it. Calls beyond
/// this number share places. When no place is free, connections take turns, however many calls each of them
/// has waiting.
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
    /// The running calls beyond the guaranteed ones, of all connections.
    private var sharedRunning = 0
    private var calls: [Connection: Calls] = [:]
    /// The number of calls that wait, of all connections.
    private(set) var waiting = 0
    /// The connections that have calls waiting, in the order of their turns; turns before ``next`` are over.
    private var turns: [Connection] = []
    private var next = 0

    /// Creates an empty value.
    ///
    /// - Parameters:
    ///   - guaranteed: The number of calls of a connection that always run.
    ///   - shared: The number of further calls of all connections that run at once.
    init(guaranteed: Int, shared: Int) {
        self.guaranteed = max(1, guaranteed)
        self.shared = max(0, shared)
    }

    /// Asks for a call to run.
    ///
    /// - Returns: Whether it may run now; else it waits until ``end(_:)`` or ``leave(_:)`` returns its
    ///   connection.
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

    /// Ends a running call.
    ///
    /// - Returns: The connections whose longest-waiting call runs now.
    mutating func end(_ connection: Connection) -> [Connection] {
        guard var calls = self.calls[connection], calls.running > 0 else { return [] }
        if calls.running > self.guaranteed { self.sharedRunning -= 1 }
        calls.running -= 1
        self.calls[connection] = calls.isOver ? nil : calls
        // A place is free now: a guaranteed one of this connection, or a shared one.
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

    /// Removes a closed connection.
    ///
    /// - Returns: The connections whose longest-waiting call runs now.
    mutating func leave(_ connection: Connection) -> [Connection] {
        guard let calls = self.calls.removeValue(forKey: connection) else { return [] }
        self.waiting -= calls.waiting
        self.sharedRunning -= max(0, calls.running - self.guaranteed)
        if calls.hasTurn {
            self.turns.removeFirst(self.next)
            self.next = 0
            self.turns.removeAll { $0 == connection }
        }
        var started: [Connection] = []
        while true {
            let more = self.takeTurns()
            if more.isEmpty { return started }
            started += more
        }
    }

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

    /// Starts a call of the connection whose turn it is.
    private mutating func takeTurns() -> [Connection] {
        while self.next < self.turns.count, self.sharedRunning < self.shared {
            let connection = self.turns[self.next]
            self.next += 1
            self.dropPastTurns()
            guard var calls = self.calls[connection] else { continue }
            calls.hasTurn = calls.waiting > 1
            self.calls[connection] = calls.isOver ? nil : calls
            if calls.hasTurn { self.turns.append(connection) }
            // The waiting calls of a connection may all have begun in guaranteed places.
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

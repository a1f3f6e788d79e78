internal import WaybillRouting

/// The middlewares of a bus, chain first.
struct Surroundings: Sendable {
    private struct Entry: Sendable {
        let id: Int
        let code: MiddlewareCode
        let scope: RouteTable<Void>?
        /// Tells who listens that there will be no more.
        var end: @Sendable () -> Void = {}
    }

    /// They see what the caller sees, so they come before all others.
    private var wiretaps: [Entry] = []
    private var middlewares: [Entry] = []
    private var lastID = 0
    private var isClosed = false

    /// Adds a middleware inside of those that are there.
    ///
    /// - Returns: what it is removed by; nil if nobody may come any more.
    mutating func add(_ middleware: MiddlewareCode, scope: RouteTable<Void>?) -> Int? {
        guard !self.isClosed else { return nil }
        self.lastID += 1
        self.middlewares.append(Entry(id: self.lastID, code: middleware, scope: scope))
        return self.lastID
    }

    /// Adds a wiretap inside of those that are there, and around all middlewares.
    mutating func add(_ wiretap: Wiretap, scope: RouteTable<Void>?) -> Int? {
        guard !self.isClosed else { return nil }
        self.lastID += 1
        let code = MiddlewareCode(wiretap)
        self.wiretaps.append(Entry(id: self.lastID, code: code, scope: scope, end: wiretap.end))
        return self.lastID
    }

    mutating func remove(_ id: Int) {
        self.wiretaps.removeAll { $0.id == id }
        self.middlewares.removeAll { $0.id == id }
    }

    /// Takes everybody out, for good.
    ///
    /// - Returns: what ends the wiretaps, which messages on their way may still hold.
    mutating func close() -> [@Sendable () -> Void] {
        defer { (self.isClosed, self.wiretaps, self.middlewares) = (true, [], []) }
        return self.wiretaps.map(\.end)
    }

    /// A chain of all; nil if there are none.
    var chain: Chain? {
        Chain((self.wiretaps + self.middlewares).map { Link($0.code, scope: $0.scope) })
    }
}

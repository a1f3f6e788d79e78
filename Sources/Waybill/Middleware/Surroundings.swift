internal import WaybillRouting

/// The middlewares of a bus, chain first.
struct Surroundings: Sendable {
    private struct Entry: Sendable {
        let id: Int
        let code: MiddlewareCode
        let scope: RouteTable<Void>?
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
    mutating func add(wiretap: MiddlewareCode, scope: RouteTable<Void>?) -> Int? {
        guard !self.isClosed else { return nil }
        self.lastID += 1
        self.wiretaps.append(Entry(id: self.lastID, code: wiretap, scope: scope))
        return self.lastID
    }

    mutating func remove(_ id: Int) {
        self.wiretaps.removeAll { $0.id == id }
        self.middlewares.removeAll { $0.id == id }
    }

    /// Takes everybody out, for good.
    mutating func close() {
        self.isClosed = true
        self.wiretaps = []
        self.middlewares = []
    }

    /// A chain of all; nil if there are none.
    var chain: Chain? {
        Chain((self.wiretaps + self.middlewares).map { Link($0.code, scope: $0.scope) })
    }
}

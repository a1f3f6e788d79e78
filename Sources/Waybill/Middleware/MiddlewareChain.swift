internal import WaybillEventLoop
internal import WaybillRouting

/// The middlewares of a bus as they were at one moment, outermost first; there is at least one.
final class MiddlewareChain: Sendable {
    let links: [MiddlewareLink]

    /// Whether there are wiretaps, for which messages note their provenance.
    let isObserved: Bool

    init?(_ links: [MiddlewareLink], isObserved: Bool) {
        if links.isEmpty { return nil }
        self.isObserved = isObserved
        self.links = links
    }

    /// Returns the message as it is sent, when all middlewares of the chain have seen it.
    func prepare(_ message: Message) -> Message {
        self.links.reduce(message) { message, link in
            link.intercepts(message) ? link.code.middleware.prepare(message) : message
        }
    }
}

/// A middleware's place in a chain.
struct MiddlewareLink: Sendable {
    let code: MiddlewareCode

    /// A table with the pattern of the URLs that the middleware is around; nil when it is around every
    /// delivery.
    private let scope: RouteTable<Void>?

    init(_ code: MiddlewareCode, scope: RouteTable<Void>?) {
        self.code = code
        self.scope = scope
    }

    /// Whether the middleware is around the delivery of a message.
    func intercepts(_ message: Message) -> Bool {
        guard let scope = self.scope else { return true }
        return scope.canRoute(message.parameters.url)
    }
}

/// A middleware, and its method as a function.
///
/// A call by way of `any Middleware` takes two asynchronous frames, the witness and the method. This function
/// is made where the middleware's type is known, so the method is inlined into it.
@usableFromInline
struct MiddlewareCode: Sendable {
    /// ``Middleware/handle(_:context:next:)`` of the middleware.
    @usableFromInline
    typealias Handle =
        @Sendable (
            _ message: Message,
            _ context: borrowing MiddlewareContext,
            _ next: borrowing Next
        ) async throws -> any Sendable

    let handle: Handle
    let middleware: any Middleware

    @inlinable
    init(_ middleware: some Middleware) {
        self.init(middleware) { message, context, next in
            try await middleware.handle(message, context: context, next: next)
        }
    }

    @usableFromInline
    init(_ middleware: any Middleware, _ handle: @escaping Handle) {
        self.middleware = middleware
        self.handle = handle
    }
}

/// The middlewares of a bus, outermost first.
struct MiddlewareRegistry: Sendable {
    private struct Entry: Sendable {
        let id: Int
        let code: MiddlewareCode
        var scope: RouteTable<Void>?
        /// Ends the events of the listener.
        var end: @Sendable () -> Void = {}
    }

    /// They see what the caller sees, so they come before all others.
    private var wiretaps: [Entry] = []
    private var middlewares: [Entry] = []
    private var lastID = 0
    private var isClosed = false

    /// Adds a middleware inside of the present ones.
    ///
    /// - Returns: what it is removed by; nil if the bus takes no more middlewares.
    mutating func add(_ middleware: MiddlewareCode, scope: RouteTable<Void>?) -> Int? {
        guard !self.isClosed else { return nil }
        self.lastID += 1
        self.middlewares.append(Entry(id: self.lastID, code: middleware, scope: scope))
        return self.lastID
    }

    /// Adds a wiretap inside of the present ones, and around all middlewares.
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

    /// Reads URLs by another default scheme.
    mutating func setDefaultScheme(_ scheme: String) {
        for index in self.wiretaps.indices { self.wiretaps[index].scope?.defaultScheme = scheme }
        for index in self.middlewares.indices { self.middlewares[index].scope?.defaultScheme = scheme }
    }

    /// Takes all middlewares out, for good.
    ///
    /// - Returns: what ends the wiretaps, which messages on their way may still hold.
    mutating func close() -> [@Sendable () -> Void] {
        defer { (self.isClosed, self.wiretaps, self.middlewares) = (true, [], []) }
        return self.wiretaps.map(\.end)
    }

    /// A chain of all; nil if there are none.
    var chain: MiddlewareChain? {
        MiddlewareChain(
            (self.wiretaps + self.middlewares).map { MiddlewareLink($0.code, scope: $0.scope) },
            isObserved: !self.wiretaps.isEmpty
        )
    }
}

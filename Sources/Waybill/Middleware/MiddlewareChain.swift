public import WaybillEventLoop
internal import WaybillRouting

/// The middlewares of a bus as they were at one moment, outermost first; there is at least one.
@usableFromInline
final class MiddlewareChain: Sendable {
    private let array: FixedArray<MiddlewareLink>

    /// The links, for as long as the chain is held.
    @usableFromInline let links: FixedArray<MiddlewareLink>.UnretainedElements

    /// Whether there are wiretaps, for which messages note their provenance.
    let isObserved: Bool

    init?(_ links: [MiddlewareLink], isObserved: Bool) {
        if links.isEmpty { return nil }
        self.isObserved = isObserved
        self.array = FixedArray(links)
        self.links = self.array.elements
    }

    /// The message as it is sent, when all of the chain has seen it.
    func prepare(_ message: Message) -> Message {
        (0..<self.links.count).reduce(message) { message, index in
            // The chain holds the array.
            unsafe self.links[index].intercepts(message)
                ? self.links[index].code.middleware.prepare(message) : message
        }
    }
}

/// A middleware's place in a chain.
@usableFromInline
struct MiddlewareLink: Sendable {
    @usableFromInline let code: MiddlewareCode

    /// Whether it is around every delivery.
    @usableFromInline let isGlobal: Bool

    /// What it is around otherwise: a table with one pattern.
    private let scope: RouteTable<Void>?

    init(_ code: MiddlewareCode, scope: RouteTable<Void>?) {
        self.code = code
        self.scope = scope
        self.isGlobal = scope == nil
    }

    /// Whether it is around the delivery of a message.
    func intercepts(_ message: Message) -> Bool {
        guard let scope = self.scope else { return true }
        return scope.canRoute(message.parameters.url)
    }
}

/// A middleware as a chain calls it: its method as a function, and the object that the function is called
/// with.
///
/// A call by way of `any Middleware` takes two asynchronous frames, the witness and the method. This function
/// is made where the middleware's type is known, so the method is inlined into it; and since it has no
/// context, there is none to count.
@usableFromInline
struct MiddlewareCode: Sendable {
    /// ``Middleware/handle(_:context:next:)`` of the middleware in a box.
    @usableFromInline
    typealias Handle =
        @Sendable (
            _ box: UnretainedObject,
            _ message: Message,
            _ context: borrowing MiddlewareContext,
            _ next: borrowing Next
        ) async throws -> any Sendable

    @usableFromInline let handle: Handle

    /// The middleware's box, for code that holds this element of a chain.
    @usableFromInline let box: UnretainedObject

    private let held: any AnyObject & Sendable

    /// What is asked for less often than a delivery.
    let middleware: any Middleware

    /// Keeps a middleware of a type that the compiler knows.
    @usableFromInline
    final class Box<Content: Middleware>: Sendable {
        @usableFromInline let content: Content

        @inlinable
        init(_ content: Content) { self.content = content }
    }

    @inlinable
    init<Content: Middleware>(_ middleware: Content) {
        self.init(middleware, Box(middleware)) { box, message, context, next in
            // The code is called with its own box, which it holds, and which is made one line above.
            try await unsafe box.withUnsafeObject(assumedToBe: Box<Content>.self, { $0.content })
                .handle(message, context: context, next: next)
        }
    }

    @usableFromInline
    init(_ middleware: any Middleware, _ box: any AnyObject & Sendable, _ handle: @escaping Handle) {
        self.middleware = middleware
        self.held = box
        self.box = UnretainedObject(box)
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

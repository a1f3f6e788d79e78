internal import WaybillRouting

/// The middlewares of a bus at one moment, at least one, outermost first.
final class MiddlewareChain: Sendable {
    let links: [MiddlewareLink]

    /// Whether the bus has wiretaps, for which it records the provenance of messages.
    let isObserved: Bool

    init?(_ links: [MiddlewareLink], isObserved: Bool) {
        if links.isEmpty { return nil }
        self.isObserved = isObserved
        self.links = links
    }

    /// Returns the message to send, after all middlewares of the chain have prepared the message.
    func prepare(_ message: Message) -> Message {
        self.links.reduce(message) { message, link in
            link.intercepts(message) ? link.middleware.prepare(message) : message
        }
    }
}

extension MessageBus {
    /// The headers that middlewares for all URLs write into each message that the calling task sends.
    ///
    /// A store reads the headers when the program sends a message, because it delivers the message later.
    package var senderHeaders: [String: String] {
        let request = Request(url: "waybill://sender")
        guard let chain = self.core.chain(on: self.core.currentShard),
            let address = try? self.core.registry.address(of: request.url)
        else { return [:] }
        let parameters = Parameters(address: address)
        return chain.prepare(request.message(id: CorrelationID(rawValue: 0), parameters: parameters)).headers
    }
}

/// A middleware, with its `handle` method as a function and the URLs that it intercepts.
///
/// The function is created where the middleware's type is known, so that the compiler can inline the method,
/// which a call through `any Middleware` prevents. The type is a class, because each message would copy the
/// fields of a structure.
@usableFromInline
final class MiddlewareLink: Sendable {
    /// The type of ``Middleware/handle(_:context:next:)`` as a function.
    @usableFromInline
    typealias Handle =
        @Sendable (
            _ message: Message,
            _ context: borrowing MiddlewareContext,
            _ next: borrowing Next
        ) async throws -> any Sendable

    let handle: Handle
    let middleware: any Middleware

    /// A table with the pattern of the intercepted URLs; nil when the middleware intercepts every message.
    let scope: RouteTable<Void>?

    var wiretap: Wiretap? { self.middleware as? Wiretap }

    @inlinable
    convenience init(_ middleware: some Middleware) {
        self.init(middleware) { message, context, next in
            try await middleware.handle(message, context: context, next: next)
        }
    }

    @usableFromInline
    init(_ middleware: any Middleware, _ handle: @escaping Handle) {
        self.middleware = middleware
        self.handle = handle
        self.scope = nil
    }

    /// Creates a link with the middleware of another link, and a scope whose URLs have a default scheme.
    init(_ link: MiddlewareLink, scope: RouteTable<Void>?, defaultScheme: String) {
        self.middleware = link.middleware
        self.handle = link.handle
        var scope = scope
        scope?.defaultScheme = defaultScheme
        self.scope = scope
    }

    func intercepts(_ message: Message) -> Bool { self.scope?.canRoute(message.parameters.url) ?? true }
}

/// The middlewares of a bus, outermost first.
struct MiddlewareRegistry: Sendable {
    private var links = Numbered<MiddlewareLink>()
    private var isClosed = false

    /// Adds a middleware after the existing middlewares, or returns nil when the bus has ended.
    mutating func insert(_ link: MiddlewareLink) -> Int? { self.isClosed ? nil : self.links.add(link) }

    mutating func remove(_ id: Int) { _ = self.links.remove(id) }

    mutating func setDefaultScheme(_ scheme: String) {
        self.links.updateAll { $0 = MiddlewareLink($0, scope: $0.scope, defaultScheme: scheme) }
    }

    /// Removes all middlewares for good, and returns the observers of wiretaps that messages may still hold.
    mutating func close() -> [Observer<MessageTrace.Event>] {
        self.isClosed = true
        return self.links.takeAll().compactMap { $0.wiretap?.observer }
    }

    /// The chain of all middlewares; nil when the bus has none.
    ///
    /// The wiretaps come first, because they must receive the same messages and outcomes as the caller.
    var chain: MiddlewareChain? {
        let wiretaps = self.links.values.filter { $0.wiretap != nil }
        return MiddlewareChain(
            wiretaps + self.links.values.filter { $0.wiretap == nil },
            isObserved: !wiretaps.isEmpty
        )
    }
}

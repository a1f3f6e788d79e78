internal import WaybillRouting

/// A middleware's place in the chain.
@usableFromInline
final class Link: Sendable {
    @usableFromInline let middleware: any Middleware

    /// The middleware that comes after this one; nil if that is the handler.
    @usableFromInline let following: Link?

    /// Whether it is around every delivery.
    @usableFromInline let isGlobal: Bool

    /// What it is around otherwise: a table with one pattern.
    private let scope: RouteTable<Void>?

    init(_ middleware: any Middleware, scope: RouteTable<Void>?, following: Link?) {
        self.middleware = middleware
        self.scope = scope
        self.isGlobal = scope == nil
        self.following = following
    }

    /// Whether it is around the delivery of a message.
    func surrounds(_ message: Message) -> Bool {
        guard let scope = self.scope else { return true }
        return scope.canRoute(message.parameters.url)
    }

    /// The message as it is sent, when all of the chain has seen it.
    func prepare(_ message: Message) -> Message {
        var message = message
        var link: Link? = self
        while let one = link {
            if one.surrounds(message) { message = one.middleware.prepare(message) }
            link = one.following
        }
        return message
    }
}

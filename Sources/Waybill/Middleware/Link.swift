internal import WaybillRouting

/// A middleware's place in a chain.
@usableFromInline
struct Link: Sendable {
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
    func surrounds(_ message: Message) -> Bool {
        guard let scope = self.scope else { return true }
        return scope.canRoute(message.parameters.url)
    }
}

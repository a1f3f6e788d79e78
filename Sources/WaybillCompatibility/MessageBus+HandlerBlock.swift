public import Waybill

extension MessageBus {
    /// Calls a closure with the parts of every URL before the URL's handler, as the FTRouter library does
    /// with its handler block.
    ///
    /// ```swift
    /// bus.use(handlerBlock: { components in
    ///     components.destination == nil ? "no \(components.path) here" : nil
    /// })
    /// ```
    ///
    /// The destination of a URL is the pattern that the URL matches. ``FTRouterComponents/destination`` is
    /// nil for a URL that has no route. The closure is not called for a text that is not a URL.
    ///
    /// - Parameter block: A closure that returns a value for the caller, or nil. If the block returns a
    ///   value, the handler is not called.
    /// - Returns: The registration of the block. The block stays registered when the registration is
    ///   released.
    @discardableResult
    public func use(
        handlerBlock block: @escaping @Sendable (FTRouterComponents) async throws -> (any Sendable)?
    ) -> Registration {
        self.use(HandlerBlock(block: block))
    }
}

/// A middleware that calls a handler block before every delivery.
private struct HandlerBlock: Middleware {
    let block: @Sendable (FTRouterComponents) async throws -> (any Sendable)?

    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        let components = FTRouterComponents(message, destination: context.pattern)
        if let answer = try await self.block(components) { return answer }
        return try await next(message)
    }
}

public import Waybill

extension MessageBus {
    /// Has a closure see the parts of every URL before its handler does, as FTRouter's handler block.
    ///
    /// ```swift
    /// bus.use(handlerBlock: { components in
    ///     components.destination == nil ? "no \(components.path) here" : nil
    /// })
    /// ```
    ///
    /// A URL that nothing takes has no ``FTRouterComponents/destination``; the destination of any other is
    /// the pattern that it matched. Text that is not a URL is not seen.
    ///
    /// - Parameter block: Returns the answer to the caller in the place of the handler, or nil to have the
    ///   handler answer.
    /// - Returns: The registration of the block; the block stays when this is dropped.
    @discardableResult
    public func use(
        handlerBlock block: @escaping @Sendable (FTRouterComponents) async throws -> (any Sendable)?
    ) -> Registration {
        self.use(HandlerBlock(block: block))
    }
}

/// A handler block around every delivery.
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

public import WaybillRouting

/// Decides which messages pass, and sees which failed.
///
/// ```swift
/// bus.use(FilterMiddleware { message in message.headers["user"] != nil })
/// ```
///
/// A message that does not pass fails with `refused`. This is also COCRouter's global filter, which sees
/// every failure: that of a URL without a handler too, but not of text that is no URL.
///
/// ```swift
/// bus.use(FilterMiddleware(onFailure: { message, error in print(message.address, error.code) }))
/// ```
public struct FilterMiddleware: Middleware {
    private let passes: @Sendable (Message) throws -> Bool
    private let onFailure: @Sendable (Message, RoutingError) -> Void

    /// Makes a middleware that lets all messages pass.
    ///
    /// - Parameter onFailure: sees every message that did not end with a reply, and why.
    public init(onFailure: @escaping @Sendable (Message, RoutingError) -> Void) {
        self.init({ _ in true }, onFailure: onFailure)
    }

    /// Makes a middleware that lets messages pass or not.
    ///
    /// - Parameters:
    ///   - passes: whether a message may pass; to say why not, it throws
    ///     ``WaybillRouting/RoutingError/refused(_:cause:)``.
    ///   - onFailure: sees every message that did not end with a reply, and why.
    public init(
        _ passes: @escaping @Sendable (Message) throws -> Bool,
        onFailure: @escaping @Sendable (Message, RoutingError) -> Void = { _, _ in }
    ) {
        self.passes = passes
        self.onFailure = onFailure
    }

    /// Lets a message pass, or refuses it, and reports its failure.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        do {
            guard try self.passes(message) else { throw RoutingError.refused("a filter stopped the message") }
            return try await next(message)
        } catch {
            let error = RoutingError.thrown(error, around: message)
            self.onFailure(message, error)
            throw error
        }
    }
}

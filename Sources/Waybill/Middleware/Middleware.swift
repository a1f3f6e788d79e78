/// Code around every delivery: it looks at a message, calls the rest, and looks at what came back.
///
/// ```swift
/// struct Stopwatch: Middleware {
///     nonisolated(nonsending) func handle(
///         _ message: Message,
///         context: borrowing MiddlewareContext,
///         next: borrowing Next
///     ) async throws -> any Sendable {
///         let start = ContinuousClock.now
///         defer { print(message.address, ContinuousClock.now - start) }
///         return try await next(message)
///     }
/// }
///
/// bus.use(Stopwatch())
/// ```
///
/// A middleware answers by returning, with what the rest returned or with a value of its own. It refuses by throwing,
/// for example ``WaybillRouting/RoutingError/refused(_:cause:)``. It changes a message by passing another one on. However often it calls the
/// rest, the message is one in the books, with the one outcome that the outermost middleware returns or throws.
public protocol Middleware: Sendable {
    /// Handles a message: answers it, refuses it, or has the rest answer it.
    ///
    /// It runs after the handler was found and before the message gets into a mailbox:
    ///
    /// | the message | task | isolation | the caller is free at once |
    /// | --- | --- | --- | --- |
    /// | to a handler that answers at once, without a deadline | the caller's | the caller's | no: when this returns |
    /// | to a handler that may suspend, or with a deadline | its own | the caller's loop; the handler's loop if the caller is on none of the bus | when it is cancelled, the deadline passes, or the handler is unregistered |
    /// | that no caller awaits | its own | the handler's loop, when its turn comes in the mailbox | |
    /// | that is read from a subscription's sequence | the reader's | the reader's, when it is read | |
    ///
    /// A message that is refused or answered on its way to a reader is not seen by the reader.
    ///
    /// A conformance in a module that does not have the upcoming feature `NonisolatedNonsendingByDefault` should say
    /// `nonisolated(nonsending)`, as above, or every message makes a detour through the global executor. One that
    /// suspends lets later messages of the same sender overtake.
    ///
    /// What it routes or sends itself inherits the message's deadline and hops where it runs in a task of its own, and only there
    /// can it reply in advance. It passes through middlewares too: use one that routes for a pattern that leaves those URLs
    /// out, or it may call itself for ever.
    ///
    /// - Parameters:
    ///   - message: the message, as the middleware before this one has passed it on.
    ///   - context: the route that it leads to, and the bus's clock.
    ///   - next: the rest: the middlewares after this one, and the handler. Each call is an attempt to deliver.
    /// - Returns: the reply's value.
    /// - Throws: the reason that there is none. A `RoutingError` about this message, or about no URL, passes as it is; anything
    ///   else becomes `handlerFailed`, with the error as its cause.
    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable

    /// Looks at a message that nobody awaits when it is sent, before it waits in its mailbox.
    ///
    /// ``handle(_:context:next:)`` runs later and elsewhere, where what was around the sender is gone: this is the place to
    /// write the sender's context into the headers. It runs on the sender's thread, and most middlewares do not need it.
    ///
    /// - Parameter message: the message, as the middleware before this one has changed it.
    /// - Returns: what is sent.
    func prepare(_ message: Message) -> Message
}

extension Middleware {
    /// Changes nothing.
    public func prepare(_ message: Message) -> Message { message }
}

internal import WaybillEventLoop

extension MessageBus {
    /// Ends the bus: takes no new messages, lets those in flight end, and fails the rest.
    ///
    /// What a handler in flight routes or sends is still delivered, so that it can finish. Whoever comes from
    /// outside, and whoever is still waiting at the deadline, fails with `shutDown`. The event loop keeps running, for
    /// the others that use it. Shutting down again changes nothing.
    ///
    /// A handler may call this. Neither its own message nor that of a handler which waits for it is waited for or counted:
    /// they have until the deadline to reply, and may not route any more once this has returned.
    ///
    /// - Parameter deadline: how long to wait for what is in flight.
    /// - Returns: how many messages ended in time, and how many did not.
    @discardableResult
    public func shutDown(drainingUntil deadline: ContinuousClock.Instant = .now) async -> DrainSummary {
        await EventLoop.yieldIfDue()
        return await self.core.drain(until: deadline)
    }
}

/// Runs code with a bus, and ends the bus on every path: when the code returns, throws or is cancelled.
///
/// ```swift
/// let answer = try await withMessageBus(MessageBus()) { bus in
///     try bus.register("app://now") { _ in 1 }
///     return try await bus.route("app://now", as: Int.self)
/// }
/// ```
///
/// - Parameters:
///   - bus: the bus; nothing can be delivered on it afterwards.
///   - limit: how long what is still in flight may take to end.
///   - body: runs where the caller is isolated.
/// - Returns: what the code returns.
/// - Throws: what the code throws.
public nonisolated(nonsending) func withMessageBus<Result>(
    _ bus: MessageBus,
    drainingFor limit: Duration = .zero,
    _ body: nonisolated(nonsending) (MessageBus) async throws -> Result
) async rethrows -> Result {
    let result: Result
    do {
        result = try await body(bus)
    } catch {
        await bus.shutDown(drainingUntil: bus.core.time.instant + limit)
        throw error
    }
    await bus.shutDown(drainingUntil: bus.core.time.instant + limit)
    return result
}

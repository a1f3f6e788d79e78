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
    public func shutDown(graceful deadline: ContinuousClock.Instant = .now) async -> DrainSummary {
        await EventLoop.yieldIfDue()
        return await self.core.drain(until: deadline)
    }
}

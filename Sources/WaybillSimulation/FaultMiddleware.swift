internal import Waybill
internal import WaybillRouting

#if Durable
internal import WaybillDurable
#endif

/// The faults of the messages of one node, outside of the node's own middlewares.
struct FaultMiddleware: Middleware {
    private let simulator: Simulator

    init(_ simulator: Simulator) { self.simulator = simulator }

    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        // The bus promises to keep the order of messages that no caller awaits, and to lose none of them.
        guard message.deliveryKind == .request else { return try await next(message) }
        let faults = self.simulator.faults
        // The middleware of the other node injects the faults of a message between two nodes.
        let isForOtherNode = context.isForOtherNode
        let failure =
            isForOtherNode ? 0 : self.simulator.choose(.failure, below: 3, odds: faults.failure)
        if failure == 1 { throw Self.error("the message was lost") }
        if !isForOtherNode, let delay = self.delay() { try await context.sleep(for: delay) }
        // The failure of a handler is a reply as well, which can be late or lost.
        let reply: Result<any Sendable, any Error>
        do { reply = .success(try await next(message)) } catch { reply = .failure(error) }
        if !isForOtherNode, let delay = self.delay() { try await context.sleep(for: delay) }
        if failure == 2 { throw Self.error("the reply was lost") }
        let value = try reply.get()
        if self.isRepeated(message) { throw Self.error("the outcome of the attempt was lost") }
        return value
    }

    /// Returns whether the store of a message delivers it again, although its handler has returned.
    ///
    /// The store ignores the failure of an attempt whose handler has completed the message.
    private func isRepeated(_ message: Message) -> Bool {
        #if Durable
        guard message.durableID != nil else { return false }
        let odds = self.simulator.faults.duplication
        return self.simulator.choose(.failure, below: 2, odds: odds) == 1
        #else
        return false
        #endif
    }

    /// Returns the next delay, or nil for none.
    private func delay() -> Duration? {
        let delay = self.simulator.faults.delay
        let choice = self.simulator.choose(.delay, below: 13, odds: delay.odds)
        return choice == 0 ? nil : delay.limit / (1 << (12 - choice))
    }

    private static func error(_ text: String) -> RoutingError {
        RoutingError(.unreachable, message: "\(text) (a fault of the simulation)")
    }
}

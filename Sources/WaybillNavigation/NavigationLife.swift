internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// The lifetime of the destination of one request, and the result for the request's caller at its end.
final class NavigationLife: Sendable {
    /// A caller that waits for the end.
    private typealias Waiter = LoopContinuation<any Sendable>

    private struct State {
        var result: any Sendable = ()
        var isOver = false
        var waiter: Waiter?
        /// Nil before the destination is there.
        var close: (@Sendable () async throws(RoutingError) -> Void)?
    }

    private let message: Message
    /// Waits until the step that is being taken is over.
    private let waitForStep: @Sendable () async throws(RoutingError) -> Void
    private let state = Locked(State())

    init(_ message: Message, waitForStep: @escaping @Sendable () async throws(RoutingError) -> Void) {
        self.message = message
        self.waitForStep = waitForStep
    }

    deinit {
        // A navigator that is released sends nothing any more.
        if self.state.withLock({ $0.close != nil }) { self.message.declineReturn() }
    }

    var isOver: Bool { self.state.withLock { $0.isOver } }

    private var isThere: Bool { self.state.withLock { $0.close != nil } }

    func setResult(_ result: any Sendable) {
        self.state.withLock { if !$0.isOver { $0.result = result } }
    }

    /// The destination is there: from now on the return URL waits for its end.
    func begin(_ close: @escaping @Sendable () async throws(RoutingError) -> Void) {
        self.message.holdReturn()
        self.state.withLock { $0.close = close }
    }

    func close() async throws(RoutingError) {
        // Before the destination is there, the step that brings it is being taken.
        if !self.isThere, !self.isOver { try await self.waitForStep() }
        guard let close = self.state.withLock({ $0.close }) else {
            throw RoutingError(
                .noHandler,
                url: self.message.address.text,
                message: "its destination does not exist, so it cannot be closed"
            )
        }
        try await close()
    }

    /// The destination is gone.
    func end() {
        let (result, waiter) = self.state.withLock { state in
            state.isOver = true
            state.close = nil
            return (state.result, state.waiter.take())
        }
        self.message.sendReturn(result)
        waiter?.resume(returning: result)
    }

    /// Waits until the destination is gone, or the caller is no longer there; there is one wait for each
    /// life.
    nonisolated(nonsending) func wait() async -> any Sendable {
        let waiter = Waiter(on: .current)
        return await waiter.wait(isolation: #isolation) {
            let result = self.state.withLock { state in
                if state.isOver || Task.isCancelled { return state.result as (any Sendable)? }
                state.waiter = waiter
                return nil
            }
            if let result { waiter.resume(returning: result) }
        } onCancel: {
            self.state.withLock { $0.waiter.take() }?.resume(returning: ())
        }
    }
}

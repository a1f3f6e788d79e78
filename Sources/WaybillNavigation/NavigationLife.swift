internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// The lifetime of the destination of one request, and the value that the caller receives at the end of this
/// lifetime.
final class NavigationLife: Sendable {
    /// A caller that waits until the destination is removed.
    private typealias Waiter = LoopContinuation<any Sendable>

    private struct State {
        var result: any Sendable = ()
        var isOver = false
        var waiter: Waiter?
        /// A closure that removes the destination; nil before the destination is shown and after its removal.
        var close: (@Sendable () async throws(RoutingError) -> Void)?
    }

    private let message: Message
    /// Waits until the navigation step in progress is complete.
    private let waitForStep: @Sendable () async throws(RoutingError) -> Void
    private let state = Locked(State())

    init(_ message: Message, waitForStep: @escaping @Sendable () async throws(RoutingError) -> Void) {
        self.message = message
        self.waitForStep = waitForStep
    }

    deinit {
        // The navigator was released while it showed the destination, so no value is sent to the return URL.
        if self.state.withLock({ $0.close != nil }) { self.message.declineReturn() }
    }

    var isOver: Bool { self.state.withLock { $0.isOver } }

    private var isThere: Bool { self.state.withLock { $0.close != nil } }

    func setResult(_ result: any Sendable) {
        _ = self.state.withLock { $0.isOver ? nil : Swift.exchange(&$0.result, with: result) }
    }

    /// Begins the lifetime of a destination that is shown.
    ///
    /// The message to the return URL is sent only when the destination is removed. The method returns whether
    /// the request has a return URL.
    func begin(_ close: @escaping @Sendable () async throws(RoutingError) -> Void) -> Bool {
        self.state.withLock { $0.close = close }
        return self.message.holdReturn()
    }

    func close() async throws(RoutingError) {
        // If the destination is not shown yet, the step that shows it is still in progress.
        if !self.isThere, !self.isOver { try await self.waitForStep() }
        if self.isOver {
            throw .refused("the destination has been removed before, so its result is not sent")
        }
        guard let close = self.state.withLock({ $0.close }) else {
            throw RoutingError(
                .noHandler,
                url: self.message.address.text,
                message: "the destination of this request was never shown, so it cannot be closed"
            )
        }
        try await close()
    }

    /// Ends the lifetime: sends the result to the return URL, and resumes the caller with the result.
    func end() {
        let (result, waiter, _) = self.state.withLock { state in
            state.isOver = true
            return (state.result, state.waiter.take(), state.close.take())
        }
        self.message.sendReturn(result)
        waiter?.resume(returning: result)
    }

    /// Waits until the destination is removed, and returns the result.
    ///
    /// If the caller's task is cancelled, the method returns at once. A lifetime permits one call of this
    /// method.
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

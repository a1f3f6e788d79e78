internal import WaybillEventLoop

/// A gate that opens once.
///
/// Waiting for it is not cancelled.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var isReached = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    package init() {}

    package func open() { self.change { $0.isOpen = true } }

    /// Records that code has reached the gate, even if it does not wait there.
    package func reach() {
        if self.state.withLock({ $0.isReached }) { return }
        self.change { $0.isReached = true }
    }

    /// Waits until the gate is open.
    package func wait() async {
        self.reach()
        await self.wait { $0.isOpen }
    }

    /// Whether code has reached the gate.
    package var isReached: Bool { self.state.withLock { $0.isReached } }

    /// Waits until other code has reached the gate.
    package func reached() async { await self.wait { $0.isReached } }

    /// Blocks the calling thread until the gate opens, like a handler that blocks although it must not.
    package func block() {
        while !self.state.withLock({ $0.isOpen }) { pauseThread() }
    }

    private func wait(until condition: @Sendable (State) -> Bool) async {
        while !self.state.withLock({ condition($0) }) {
            await withCheckedContinuation { continuation in
                let isTrue = self.state.withLock { state in
                    if !condition(state) { state.waiters.append(continuation) }
                    return condition(state)
                }
                if isTrue { continuation.resume() }
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiters = self.state.withLock { state in
            defer { state.waiters = [] }
            body(&state)
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

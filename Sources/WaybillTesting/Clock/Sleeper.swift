internal import WaybillEventLoop

/// A task that sleeps until a clock has been advanced.
final class Sleeper: Sendable {
    private struct State {
        var isAwake = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())
    private let time: ManualTime

    init(_ time: ManualTime) { self.time = time }

    /// Suspends the caller until ``wake()`` is called, or returns at once if it has already been called.
    nonisolated(nonsending) func sleep() async {
        await withCheckedContinuation { waiter in
            let isAwake = self.state.withLock { state in
                if !state.isAwake { state.waiter = waiter }
                return state.isAwake
            }
            if isAwake { waiter.resume() }
        }
        self.time.didResumeSleeper()
    }

    /// Resumes the sleeping task; only the first call has an effect.
    func wake() {
        let (isFirst, waiter) = self.state.withLock { state in
            defer { state.isAwake = true }
            return (!state.isAwake, state.waiter.take())
        }
        if isFirst { self.time.willResumeSleeper() }
        waiter?.resume()
    }
}

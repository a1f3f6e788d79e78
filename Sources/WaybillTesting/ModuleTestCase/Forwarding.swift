internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// Routes a URL on the bus, and stops waiting for the reply after a time limit.
///
/// The deadlines of the bus cannot be used for the time limit, because the bus may have a manual clock, which
/// does not move by itself.
struct Forwarding {
    /// The result of a URL that was routed.
    struct Outcome: Sendable {
        let error: RoutingError?
        let isHanging: Bool
        let time: Duration
    }

    private let bus: MessageBus
    private let arguments: [String: any Sendable]

    init(_ bus: MessageBus, _ arguments: [String: any Sendable]) {
        self.bus = bus
        self.arguments = arguments
    }

    func forward(_ url: String, limit: Duration) async -> Outcome {
        let bus = self.bus
        let arguments = self.arguments
        let start = ContinuousClock.now
        let race = Race<Outcome>()
        // The URL is routed in a separate task that nobody awaits. If the handler blocks its loop, the task
        // never returns.
        let task = Task {
            do throws(RoutingError) {
                try await bus.route(url, parameters: arguments)
                race.finish(Outcome(error: nil, isHanging: false, time: ContinuousClock.now - start))
            } catch {
                race.finish(Outcome(error: error, isHanging: false, time: ContinuousClock.now - start))
            }
        }
        let timer = Task {
            do {
                try await Task.sleep(for: limit)
            } catch {
                return
            }
            race.finish(Outcome(error: nil, isHanging: true, time: limit))
            task.cancel()
        }
        let outcome = await race.outcome()
        timer.cancel()
        return outcome
    }
}

/// Two tasks, of which the first that finishes determines the outcome.
private final class Race<Outcome: Sendable>: Sendable {
    private struct State {
        var outcome: Outcome?
        var waiter: CheckedContinuation<Outcome, Never>?
    }

    private let state = Locked(State())

    func finish(_ outcome: Outcome) {
        let waiter = self.state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            return state.waiter.take()
        }
        waiter?.resume(returning: outcome)
    }

    nonisolated(nonsending) func outcome() async -> Outcome {
        await withCheckedContinuation { waiter in
            let outcome = self.state.withLock { state in
                if state.outcome == nil { state.waiter = waiter }
                return state.outcome
            }
            if let outcome { waiter.resume(returning: outcome) }
        }
    }
}

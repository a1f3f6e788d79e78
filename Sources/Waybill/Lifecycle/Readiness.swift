internal import Synchronization
internal import WaybillEventLoop

/// The result of ``MessageBus/readiness(within:)``: whether a program can take requests, and the failed
/// conditions.
public struct Readiness: Sendable {
    /// A condition that is not met.
    public struct Problem: Sendable, Equatable {
        /// The name of the check: `bus`, `event loop 0`, or a name given to
        /// ``MessageBus/addReadinessCheck(_:_:)``.
        public let name: String
        /// The reason why the check failed, for the operators of the program.
        public let reason: String
    }

    /// The conditions that are not met, in the order of the checks.
    public let problems: [Problem]

    /// Whether all conditions are met.
    public var isReady: Bool { self.problems.isEmpty }
}

/// A condition for taking requests.
///
/// Each report tests the condition until the check is cancelled.
public struct ReadinessCheck: Sendable {
    fileprivate let number: Int
    fileprivate let core: BusCore

    /// Removes the check, or has no effect when it is removed already.
    public func cancel() { _ = self.core.readinessChecks.withLock { $0.remove(self.number) } }
}

/// A condition with its name in a report.
struct NamedCheck: Sendable {
    let name: String
    /// Returns the reason why the condition is not met, or nil when it is met.
    let reason: @Sendable () async -> String?
}

extension MessageBus {
    /// Adds a condition for taking requests, for example that a database responds.
    ///
    /// ```swift
    /// bus.addReadinessCheck("database") { await database.isConnected ? nil : "no connection" }
    /// ```
    ///
    /// A process of a cluster adds a check that fails while the process has no connection to a server. A
    /// gateway reports the results of the checks at `ready`.
    ///
    /// - Parameters:
    ///   - name: The name of the check in a report.
    ///   - check: A closure that returns the reason why the condition is not met, or nil when it is met. The
    ///     bus calls the closure for each report, and cancels the closure's task if it takes too long.
    /// - Returns: The check, which you can cancel.
    @discardableResult
    public func addReadinessCheck(
        _ name: String,
        _ check: @escaping @Sendable () async -> String?
    ) -> ReadinessCheck {
        let check = NamedCheck(name: name, reason: check)
        let number = self.core.readinessChecks.withLock { checks in
            // A bus that has been shut down is never ready, and must not retain the check.
            self.core.phase.load(ordering: .relaxed) == .closed ? checks.nextNumber() : checks.add(check)
        }
        return ReadinessCheck(number: number, core: self.core)
    }

    /// Whether the bus accepts messages: ``shutDown(drainingFor:)`` has not been called.
    package var isOpen: Bool { self.core.phase.load(ordering: .relaxed) == .open }

    /// Returns whether the bus is not shut down, its loops are responsive, and all checks succeed.
    ///
    /// - Parameter limit: The duration after which a loop or a check counts as failed.
    /// - Returns: The conditions that are not met.
    public func readiness(within limit: Duration = .seconds(1)) async -> Readiness {
        var checks = self.core.eventLoops.enumerated().map { index, loop in
            Task { () -> Readiness.Problem? in
                let turns = await FirstAnswer.within(limit) { answer in loop.execute { answer.give(true) } }
                if turns == true { return nil }
                return Readiness.Problem(
                    name: "event loop \(index)",
                    reason: "the loop has not completed an iteration for \(limit)"
                )
            }
        }
        checks += self.core.readinessChecks.withLock { $0.values }.map { check in
            Task { () -> Readiness.Problem? in
                var task: Task<Void, Never>?
                let outcome = await FirstAnswer<String?>.within(limit) { answer in
                    task = Task { answer.give(await check.reason()) }
                }
                task?.cancel()
                guard let reason = outcome ?? "it has taken longer than \(limit)" else { return nil }
                return Readiness.Problem(name: check.name, reason: reason)
            }
        }
        var problems: [Readiness.Problem] = []
        if !self.isOpen {
            problems.append(Readiness.Problem(name: "bus", reason: "the bus has been shut down"))
        }
        for check in checks { if let problem = await check.value { problems.append(problem) } }
        return Readiness(problems: problems)
    }
}

/// The first answer to a request that may get none.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private let hasAnswer = Atomic(false)
    private let waiter = LoopContinuation<Value?>(on: nil)

    /// Makes a request, and returns the answer, or nil when no answer arrives in time.
    static func within(_ limit: Duration, _ ask: (FirstAnswer) -> Void) async -> Value? {
        let answer = FirstAnswer()
        ask(answer)
        let timer = Task {
            try? await Task.sleep(for: limit)
            answer.give(nil)
        }
        defer { timer.cancel() }
        return await answer.waiter.wait()
    }

    func give(_ value: Value?) {
        if self.hasAnswer.exchange(true, ordering: .acquiringAndReleasing) { return }
        self.waiter.resume(returning: value)
    }
}

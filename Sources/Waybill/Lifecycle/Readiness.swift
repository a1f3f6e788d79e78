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

/// A condition for taking requests, which each report tests until the check is cancelled.
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
    /// A gateway reports the results of the checks at `ready`. A process of a cluster adds its own check.
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
                let name = "event loop \(index)"
                if loop.isShutDown {
                    return Readiness.Problem(name: name, reason: "the loop has been shut down")
                }
                let late = "the loop has not completed an iteration for \(limit)"
                let reason = await Reason.within(limit, late: late) { test in
                    loop.execute { test.give(nil) }
                }
                return reason.map { Readiness.Problem(name: name, reason: $0) }
            }
        }
        checks += self.core.readinessChecks.withLock { $0.values }.map { check in
            Task {
                var task: Task<Void, Never>?
                let reason = await Reason.within(limit, late: "it has taken longer than \(limit)") { test in
                    task = Task { test.give(await check.reason()) }
                }
                task?.cancel()
                return reason.map { Readiness.Problem(name: check.name, reason: $0) }
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

/// The reason why a condition is not met, which is the first one that is given; nil when it is met.
private final class Reason: Sendable {
    private let isGiven = Atomic(false)
    private let waiter = LoopContinuation<String?>(on: nil)

    /// Tests a condition, and returns the reason that the test gives, or `late` when it gives none in time.
    static func within(_ limit: Duration, late: String, _ test: (Reason) -> Void) async -> String? {
        let reason = Reason()
        test(reason)
        let timer = Task {
            try? await Task.sleep(for: limit)
            reason.give(late)
        }
        defer { timer.cancel() }
        return await reason.waiter.wait()
    }

    func give(_ reason: String?) {
        if self.isGiven.exchange(true, ordering: .acquiringAndReleasing) { return }
        self.waiter.resume(returning: reason)
    }
}

internal import WaybillEventLoop

/// What bounds the rest of a delivery.
@usableFromInline
final class Stage: Sendable {
    /// The deadline that somebody watches already.
    let deadline: Deadline

    /// Whether the message has waited in its mailbox before it met the first middleware, as those do that nobody awaits.
    let hasWaited: Bool

    /// The tasks that deliver it, if it holds the turn of a serial module meanwhile.
    let attempts: Attempts?

    init(deadline: Deadline, hasWaited: Bool = false, attempts: Attempts? = nil) {
        self.deadline = deadline
        self.hasWaited = hasWaited
        self.attempts = attempts
    }
}

extension Stage {
    /// Tasks that a middleware may leave behind, and whose end the next message of a serial module has to wait for.
    final class Attempts: Sendable {
        private let tasks = Locked<[Task<Void, Never>]>([])

        var isEmpty: Bool { self.tasks.withLock { $0.isEmpty } }

        func add(_ task: Task<Void, Never>) { self.tasks.withLock { $0.append(task) } }

        nonisolated(nonsending) func end() async {
            while let task = self.tasks.withLock({ $0.popLast() }) { await task.value }
        }
    }
}

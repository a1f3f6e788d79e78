internal import CLibUV

/// The task that the calling thread runs: its identity, and whether it is a child task.
package enum CurrentTask {
    /// A number that no other task has at the same time; zero outside tasks.
    package static var id: UInt { unsafe UInt(bitPattern: swift_task_getCurrent()) }

    /// Whether the task is an `async let` or belongs to a task group, so that its parent task waits for it.
    ///
    /// A task that `Task { }` creates inherits the same task-local values, but no task has to wait for it.
    package static var isChild: Bool {
        guard let task = unsafe swift_task_getCurrent() else { return false }
        return unsafe swift_task_getJobFlags(task) & Self.childFlag != 0
    }

    /// The bit of a job's flags that marks a child task; `CurrentTaskTests` fails first if the runtime moves
    /// it.
    private static let childFlag = 1 << 24
}

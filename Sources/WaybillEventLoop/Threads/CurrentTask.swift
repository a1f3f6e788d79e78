internal import CLibUV

/// The task that the calling thread runs: its identity, and whether it is a child task.
package enum CurrentTask {
    /// A number that no task has.
    package static let none = UInt.max

    #if WAYBILL_PUBLIC_API_ONLY

    /// A number that identifies the task among all tasks that exist; zero outside tasks.
    ///
    /// The number is a hash value, so two tasks have the same number in one of 2^64 cases.
    package static var id: UInt {
        unsafe withUnsafeCurrentTask { task in
            guard let task = unsafe task else { return 0 }
            return unsafe max(1, UInt(bitPattern: task.hashValue))
        }
    }

    /// False for every task, because no public function of Swift reports whether a task is a child task.
    ///
    /// A handler of a message deadlocks if one of its child tasks waits for a message to the handler's own
    /// mailbox. Because this value is always false, the bus does not report a `deadlock`, and the message
    /// waits until its deadline.
    package static var isChild: Bool { false }

    #else

    /// A number that identifies the task among all tasks that exist; zero outside tasks.
    package static var id: UInt { unsafe UInt(bitPattern: swift_task_getCurrent()) }

    /// Whether the task is an `async let` or belongs to a task group, so that a parent task waits for the
    /// task.
    ///
    /// A task that `Task { }` creates inherits the same task-local values, but no task has to wait for it.
    package static var isChild: Bool {
        guard let task = unsafe swift_task_getCurrent() else { return false }
        return unsafe swift_task_getJobFlags(task) & Self.childFlag != 0
    }

    /// The bit of a job's flags that marks a child task.
    ///
    /// `CurrentTaskTests` fails if a new version of the runtime moves the bit.
    private static let childFlag = 1 << 24

    #endif
}

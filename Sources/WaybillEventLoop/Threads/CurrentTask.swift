internal import CLibUV

/// The task that the calling thread runs: its identity, and whether it is a child task.
package enum CurrentTask {
    /// A number that no other task has at the same time; zero outside of tasks.
    package static var id: UInt { unsafe UInt(bitPattern: swift_task_getCurrent()) }

    /// Whether the task is an `async let` or belongs to a task group, so that the task that made it waits for
    /// it.
    ///
    /// A task that is made by `Task { }` inherits the same task-local values, but nothing has to wait for it.
    package static var isChild: Bool {
        guard let task = unsafe swift_task_getCurrent() else { return false }
        return unsafe swift_task_getJobFlags(task) & Self.childFlag != 0
    }

    /// The bit of a job's flags that marks a child task; `CurrentTaskTests` fails first if the runtime moves
    /// it.
    private static let childFlag = 1 << 24

    /// Binds a task-local value in the calling task until ``unbind()``, as `withValue` does around a closure.
    ///
    /// It is for code that runs with every message: the closure of an asynchronous `withValue` is a function
    /// of its own, and the task looks for its executor on the way in and on the way out.
    ///
    /// The two calls come in pairs and in one task, and all that is bound in between is taken back in
    /// between.
    ///
    /// - Parameters:
    ///   - value: where the value is; it is moved out.
    ///   - local: what it is bound to.
    @unsafe
    package static func bind<Value: Sendable>(
        _ value: UnsafeMutablePointer<Value>,
        to local: TaskLocal<Value>
    ) {
        // A task-local value's key is its object.
        unsafe swift_task_localValuePush(
            Unmanaged.passUnretained(local).toOpaque(),
            value,
            unsafeBitCast(Value.self, to: UnsafeRawPointer.self)
        )
    }

    /// Takes the latest binding of ``bind(_:to:)`` back.
    @unsafe
    package static func unbind() { swift_task_localValuePop() }
}

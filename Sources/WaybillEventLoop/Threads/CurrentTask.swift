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

    /// Has an object told when the calling task is cancelled, until ``removeCancellationObserver(_:)``.
    ///
    /// It is what `withTaskCancellationHandler` does around a closure, for code that runs with every message:
    /// the closure and the function that calls it are asynchronous functions, with frames of their own.
    ///
    /// The two calls come in pairs and in one task, the object lives until the second, and all that the task
    /// allocates in between is released in between.
    ///
    /// - Parameter observer: what is told, at once if the task has been cancelled already.
    /// - Returns: what removes it; nil if it has been told.
    @unsafe
    package static func addCancellationObserver<Observer: CancellationObserver>(
        _ observer: Observer
    ) -> UnsafeMutableRawPointer? {
        unsafe waybill_add_cancellation_handler(Unmanaged.passUnretained(observer).toOpaque())
    }

    /// Takes an object back that was added; after this it is not told any more.
    @unsafe
    package static func removeCancellationObserver(_ record: UnsafeMutableRawPointer?) {
        if let record = unsafe record { unsafe waybill_remove_cancellation_handler(record) }
    }
}

/// What is told when a task is cancelled.
package protocol CancellationObserver: AnyObject, Sendable {
    /// The task is cancelled; called on any thread, once or never.
    func taskIsCancelled()
}

/// Called by the handler in the header, which the runtime calls; the object is one that was added.
@c(waybill_task_cancelled)
func taskIsCancelled(_ object: UnsafeMutableRawPointer) {
    let observer = unsafe Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
    (observer as? any CancellationObserver)?.taskIsCancelled()
}

/// A libuv loop, the thread that runs it, and the serial executor of every actor bound to it.
///
/// Make one with ``init(name:configuration:)`` and it runs on a thread of its own;
/// ``onCallingThread(name:configuration:)`` makes one for a thread of the program, and
/// ``adopting(_:name:configuration:)`` one inside a loop that a host runs. Bind actors to it with
/// ``LoopBound``: whatever they do runs on the loop's thread, one job at a time, and an `await` from one to
/// another costs neither a thread switch nor an iteration of the loop.
///
/// That also means that two actors of one loop that call each other for ever never return to the loop, and
/// its timers and I/O are delayed. Such code has to yield from time to time (`await Task.yield()`); a message
/// bus on the loop does so for its modules.
///
/// A loop shuts down by itself when its last reference is dropped. Actors hold their loop.
public final class EventLoop: Sendable {
    let core: LoopCore
    let taskExecutorReference = Locked(WeakTaskExecutor())

    /// The name, as thread names and logs show it.
    public var name: String { self.core.name }

    /// Creates a loop that runs on a thread of its own, from now on.
    ///
    /// The system must have a thread and four file descriptors left; the process traps if it has not.
    ///
    /// - Parameters:
    ///   - name: A name for threads and logs; "event-loop" if nil.
    ///   - configuration: How the loop behaves.
    public convenience init(name: String? = nil, configuration: Configuration = .init()) {
        self.init(core: .make(name: name, host: .ownThread, configuration: configuration))
        let core = self.core
        _ = core.lifecycle.attach()
        LoopThread.start(name: core.name) { core.runToTheEnd() }
    }

    /// Creates a loop for a thread of the program, the main thread for example; that thread calls ``run()``.
    ///
    /// What is queued before then waits.
    ///
    /// - Parameters:
    ///   - name: A name for logs; "event-loop" if nil.
    ///   - configuration: How the loop behaves.
    /// - Returns: The loop, which does nothing yet.
    public static func onCallingThread(
        name: String? = nil,
        configuration: Configuration = .init()
    ) -> EventLoop {
        EventLoop(core: .make(name: name, host: .caller, configuration: configuration))
    }

    /// Creates a loop inside a `uv_loop_t` that a host runs, on the thread that runs it.
    ///
    /// The host's loop is neither closed nor kept alive: `uv_run` returns when the host has no active handle
    /// left and no job is queued, no timer is pending and no stream is open here. So work from other threads
    /// is run while the host's loop has handles of its own to wait for, or at its next run. Before the host
    /// closes its loop it must shut this one down, with ``beginShutDown()`` and another `uv_run`, which lets
    /// the handles close.
    ///
    /// - Parameters:
    ///   - hostLoop: The address of the host's `uv_loop_t`; it must stay valid until this loop has shut down.
    ///   - name: A name for logs; "event-loop" if nil.
    ///   - configuration: How the loop behaves.
    /// - Returns: The loop, which runs whenever the host's does.
    /// - Throws: ``EventLoopError`` with the code `system` if the system has no file descriptor left.
    @unsafe
    public static func adopting(
        _ hostLoop: UnsafeMutableRawPointer,
        name: String? = nil,
        configuration: Configuration = .init()
    ) throws(EventLoopError) -> EventLoop {
        let core = try unsafe LoopCore(
            name: name ?? LoopCore.defaultName,
            host: .adopted,
            on: UVLoop(borrowing: hostLoop),
            configuration: configuration
        )
        _ = core.lifecycle.attach()
        core.enter()
        return EventLoop(core: core)
    }

    init(core: LoopCore) {
        self.core = core
        unsafe core.state.pointee.reference = LoopReference(self)
        unsafe core.state.pointee.memoryOfLoop = self
    }

    deinit {
        self.core.requestShutDown()
    }

    /// Runs the loop on the calling thread until it has shut down.
    ///
    /// For a loop that was made by ``onCallingThread(name:configuration:)``; returns at once if it has shut
    /// down already, and traps if another thread runs it.
    public func run() {
        switch self.core.lifecycle.attach() {
        case .attached: self.core.runToTheEnd()
        case .running: preconditionFailure("the event loop \"\(self.name)\" runs already")
        case .closed: break
        }
    }
}

extension EventLoop {
    /// The loop that the calling thread runs, or nil.
    public static var current: EventLoop? {
        unsafe CurrentLoop.core.flatMap { core in unsafe core._withUnsafeGuaranteedRef { $0.loop } }
    }

    /// Whether the calling thread runs this loop; costs about as much as a function call.
    public var isInEventLoop: Bool { self.core.isOnThread }

    /// Traps unless the calling thread runs this loop.
    ///
    /// - Parameters:
    ///   - message: A message for the crash report.
    ///   - file: The file to report.
    ///   - line: The line to report.
    public func preconditionInEventLoop(
        _ message: @autoclosure () -> String = "",
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        guard !self.isInEventLoop else { return }
        preconditionFailure("not on the event loop \"\(self.name)\" \(message())", file: file, line: line)
    }

    /// Runs a closure on the loop, after what is queued already.
    ///
    /// It runs exactly once, also if the loop shuts down before. It may be called from any thread, the loop's
    /// own included, and does not wait.
    ///
    /// - Parameter body: What to run on the loop's thread.
    public func execute(_ body: @escaping @Sendable () -> Void) {
        self.core.submit(WorkItem(body))
    }
}

/// A libuv loop, the thread that runs it, and the serial executor of every actor bound to it.
///
/// A loop is created in one of three ways:
///
/// - ``init(name:configuration:)`` creates a loop that runs on its own thread.
/// - ``onCallingThread(name:configuration:)`` creates a loop for a thread of the program.
/// - ``adopting(_:name:configuration:)`` creates a loop inside a loop that a host runs.
///
/// Bind actors to the loop with ``LoopBound``. Their code runs on the loop's thread, one job at a time. An
/// `await` from one actor to another costs neither a thread switch nor an iteration of the loop.
///
/// Two actors of one loop that call each other for ever therefore never return to the loop, and delay its
/// timers and I/O. Code like this must yield from time to time (`await Task.yield()`). A message bus on the
/// loop yields on behalf of its modules.
///
/// A loop shuts down by itself when its last reference is dropped. An actor has a strong reference to its
/// loop.
public final class EventLoop: Sendable {
    let core: LoopCore
    let taskExecutorReference = Locked(WeakTaskExecutor())

    /// The name of the loop, used in thread names and logs.
    public var name: String { self.core.name }

    /// Creates a loop that runs on its own thread at once.
    ///
    /// The system must have a thread and seven file descriptors left; otherwise the process traps.
    ///
    /// - Parameters:
    ///   - name: A name for threads and logs; "event-loop" if nil.
    ///   - configuration: The settings of the loop.
    public convenience init(name: String? = nil, configuration: Configuration = .init()) {
        self.init(core: .make(name: name, host: .ownThread, configuration: configuration))
        let core = self.core
        _ = core.lifecycle.attach()
        LoopThread.start(name: core.name) { core.runToTheEnd() }
    }

    /// Creates a loop for a thread of the program, such as the main thread.
    ///
    /// The thread must call ``run()``. Work that is enqueued earlier waits until that call.
    ///
    /// - Parameters:
    ///   - name: A name for logs; "event-loop" if nil.
    ///   - configuration: The settings of the loop.
    /// - Returns: The loop, which does not run yet.
    public static func onCallingThread(
        name: String? = nil,
        configuration: Configuration = .init()
    ) -> EventLoop {
        EventLoop(core: .make(name: name, host: .caller, configuration: configuration))
    }

    /// Creates a loop inside a `uv_loop_t` that a host runs.
    ///
    /// The host is the program or library that owns the `uv_loop_t`. Call this method on the thread that runs
    /// the host's loop. Waybill neither closes the host's loop nor keeps it alive. The host's `uv_run`
    /// returns when the host has no active handle left and this loop has no queued job, no pending timer and
    /// no open stream. Work that other threads enqueue therefore runs only while the host's loop has active
    /// handles of the host, or at the next `uv_run` of the host.
    ///
    /// Before the host closes its loop, the host must shut this loop down: call ``beginShutDown()`` and then
    /// `uv_run` once more, so that the handles can close.
    ///
    /// - Parameters:
    ///   - hostLoop: The address of the host's `uv_loop_t`; it must stay valid until this loop has shut down.
    ///   - name: A name for logs; "event-loop" if nil.
    ///   - configuration: The settings of the loop.
    /// - Returns: The loop, which runs whenever the host's loop runs.
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
    /// Use this method for a loop from ``onCallingThread(name:configuration:)``. The method returns at once
    /// if the loop has shut down already or another thread is shutting it down. Otherwise, the method traps
    /// if another thread runs the loop.
    public func run() {
        switch self.core.lifecycle.attach() {
        case .attached: self.core.runToTheEnd()
        case .running:
            // The thread that requests the shutdown of a loop that was never run closes the loop's handles.
            precondition(self.isShutDown, "the event loop \"\(self.name)\" is already running")
        case .closed: break
        }
    }
}

extension EventLoop {
    /// The loop that the calling thread runs, or nil.
    public static var current: EventLoop? { CurrentLoop.core?.loop }

    /// Whether the calling thread runs this loop.
    ///
    /// Reading the property costs about as much as a function call.
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

    /// Enqueues a closure to run on the loop, after the work that is queued already.
    ///
    /// The closure runs exactly once, even if the loop shuts down first. Any thread may call this method,
    /// including the loop's own thread. The method does not wait for the closure.
    ///
    /// - Parameter body: The closure to run on the loop's thread.
    public func execute(_ body: @escaping @Sendable () -> Void) {
        self.core.submit(WorkItem(body))
    }
}

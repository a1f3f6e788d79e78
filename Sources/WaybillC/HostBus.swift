internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The bus of a C program, called the host, on the loop of the thread that created the bus.
///
/// The functions of `waybill.h` call the methods of this class. The host's `waybill_bus` is an opaque pointer
/// to a `HostBus`. The pointer retains the object until the bus has closed.
///
/// The compiler cannot check that this class is `Sendable`. The class is `Sendable` because only the thread
/// of the loop uses the variable properties: through ``run(_:_:)``, which checks the thread, and in tasks of
/// ``HostTasks``.
final class HostBus: @unchecked Sendable {
    let eventLoop: EventLoop
    let bus: MessageBus
    let isDriven: Bool
    private let tasks: HostTasks
    private var entries: [UInt64: Entry] = [:]
    private var lastID: UInt64 = 0
    private var pending = 0
    private var isClosing = false
    private var isDispatching = false
    /// A distant timer that keeps a host's `uv_run` from returning while calls are pending.
    private var keepsAlive: ScheduledTimer?
    private(set) var error = CText("")

    /// The source file of a registration, for error messages.
    ///
    /// The text is empty, because a line of this library would not help a host.
    private static let place = ""

    /// A registration or a call that `waybill_cancel` can cancel by its ID.
    private enum Entry {
        case registration(Registration)
        case call(Task<Void, Never>)
    }

    init(on eventLoop: EventLoop, isDriven: Bool) {
        self.eventLoop = eventLoop
        self.bus = MessageBus(eventLoop: eventLoop)
        self.isDriven = isDriven
        self.tasks = HostTasks(eventLoop: eventLoop)
    }

    func register(_ pattern: String, _ host: HostHandler) throws(RoutingError) -> UInt64 {
        self.add(
            .registration(
                try self.bus.register(pattern, on: self.tasks, fileID: Self.place, line: 0) {
                    _,
                    message async throws -> JSONText in
                    try await PendingMessage(message).answer(by: host)
                }
            )
        )
    }

    func subscribe(_ pattern: String, _ host: HostSubscriber) throws(RoutingError) -> UInt64 {
        self.add(
            .registration(
                try self.bus.subscribe(pattern, on: self.tasks) { _, message in
                    host.call(try PendingMessage(message))
                }
            )
        )
    }

    /// Begins a call, whose outcome the host receives in a later turn of the loop.
    func begin(
        _ done: HostCompletion?,
        _ call: @escaping @Sendable (MessageBus) async throws -> any Sendable
    ) -> UInt64 {
        self.lastID += 1
        let id = self.lastID
        self.change(pending: 1)
        self.entries[id] = .call(
            self.tasks.start { tasks in
                tasks.eventLoop.preconditionInEventLoop()
                let outcome: HostOutcome
                do {
                    outcome = try HostOutcome(await call(self.bus))
                } catch {
                    outcome = HostOutcome(error)
                }
                self.entries[id] = nil
                done?.call(outcome)
                self.change(pending: -1)
            }
        )
        return id
    }

    func cancel(_ id: UInt64) {
        switch self.entries[id] {
        case .registration(let registration):
            self.entries[id] = nil
            registration.cancel()
        case .call(let task): task.cancel()
        case nil: break
        }
    }

    /// Closes the bus: fails its pending calls, closes the handles of the loop, and then calls a closure.
    ///
    /// The closure and the release of the bus must run only once, so the bus must not be closing already.
    func close(_ closed: @escaping @Sendable () -> Void) {
        self.isClosing = true
        self.change(pending: 1)
        let (bus, eventLoop) = (self.bus, self.eventLoop)
        eventLoop.onClosed(closed)
        self.tasks.start { tasks in
            tasks.eventLoop.preconditionInEventLoop()
            await bus.shutDown()
            self.change(pending: -1)
            eventLoop.beginShutDown()
        }
    }

    /// Runs the callbacks that are due.
    ///
    /// The result is false within a callback, because libuv cannot run a loop that is running already.
    func dispatch() -> Bool {
        if self.isDispatching { return false }
        self.isDispatching = true
        defer { self.isDispatching = false }
        self.eventLoop.dispatch()
        return true
    }

    func note(_ error: any Error) -> Int32 {
        self.error = CText(HostOutcome.sentence(error))
        return HostStatus(error).rawValue
    }

    private func add(_ entry: Entry) -> UInt64 {
        self.lastID += 1
        self.entries[self.lastID] = entry
        return self.lastID
    }

    private func change(pending change: Int) {
        self.eventLoop.preconditionInEventLoop()
        self.pending += change
        if self.pending == 0 {
            self.keepsAlive.take()?.cancel()
        } else if self.keepsAlive == nil {
            self.keepsAlive = self.eventLoop.schedule(at: .now + .seconds(1 << 30)) {}
        }
    }
}

extension HostBus {
    /// Returns the object of a host's pointer.
    static func of(_ pointer: OpaquePointer?) -> HostBus? {
        // The header requires a pointer that `retained` has returned and whose bus has not closed.
        unsafe pointer.map { unsafe CallbackContext.object(of: UnsafeMutableRawPointer($0)) }
    }

    /// A pointer for the host, which retains the object.
    var retained: OpaquePointer {
        // Only the closing of the bus releases the object.
        unsafe OpaquePointer(CallbackContext.retaining(self))
    }

    func release() {
        // Balances `retained`. This method runs once, because `close` succeeds only once.
        unsafe CallbackContext.take(CallbackContext.borrowing(self), as: HostBus.self)
    }

    /// Runs a closure with the bus.
    ///
    /// The call fails if the calling thread is not the thread of the bus, or if the bus is closing and
    /// `whileClosing` is false. Work that began while the bus closes could end after `closed`, on another
    /// thread.
    ///
    /// - Returns: `WAYBILL_OK` or the status of the error. The error message is stored for `waybill_error`.
    static func run(
        _ pointer: OpaquePointer?,
        whileClosing: Bool = false,
        _ body: (HostBus) throws -> Void
    ) -> Int32 {
        guard let bus = unsafe self.of(pointer) else { return HostStatus.invalidArgument.rawValue }
        guard bus.eventLoop.isInEventLoop else { return HostStatus.wrongThread.rawValue }
        do {
            if bus.isClosing, !whileClosing {
                throw RoutingError(.shutDown, message: "the bus is already being closed")
            }
            try body(bus)
            return HostStatus.ok.rawValue
        } catch {
            return bus.note(error)
        }
    }
}

/// The actor that runs the tasks of a host's bus on the loop of the bus.
actor HostTasks: LoopBound {
    nonisolated let eventLoop: EventLoop

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    /// Starts a task that begins in a later turn of the loop.
    ///
    /// Only the thread of the loop may call this method.
    ///
    /// The closure captures the actor. Without this capture, Swift 6.3 would run the closure on the global
    /// executor.
    @discardableResult
    nonisolated func start(
        _ body: @escaping @Sendable (isolated HostTasks) async -> Void
    ) -> Task<Void, Never> {
        self.assumeIsolated { tasks in tasks.startTask(body) }
    }

    private func startTask(
        _ body: @escaping @Sendable (isolated HostTasks) async -> Void
    ) -> Task<Void, Never> {
        Task.immediate {
            await Task.yield()
            await body(self)
        }
    }
}

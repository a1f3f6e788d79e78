internal import Synchronization
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The bus of a C program, called the host, on the loop of the thread that created the bus.
///
/// The functions of `waybill.h` call the methods of this actor. The host's `waybill_bus` is an opaque pointer
/// to a `HostBus`. The pointer retains the object until the bus has closed.
actor HostBus: LoopBound {
    nonisolated let eventLoop: EventLoop
    nonisolated let isDriven: Bool
    nonisolated let bus: MessageBus
    private nonisolated let isDispatching = Atomic<Bool>(false)
    private var entries: [UInt64: Entry] = [:]
    private var lastID: UInt64 = 0
    /// The number of calls that have not ended, and of messages that handlers have not completed.
    private var pending = 0
    private var isClosing = false
    /// Whether the loop must shut down as soon as nothing is pending.
    private var isShutDown = false
    /// A distant timer that keeps a host's `uv_run` from returning while something is pending.
    private var keepsAlive: ScheduledTimer?
    private(set) var error = CText("")

    /// The configuration of the loops.
    ///
    /// The loops have no watchdog, because the watchdog would start a thread in the host's process.
    static let configuration = EventLoop.Configuration(watchdogThreshold: nil)

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
    }

    func register(_ pattern: String, _ host: HostHandler) throws(RoutingError) -> UInt64 {
        self.add(
            .registration(
                try self.bus.register(pattern, on: self, fileID: Self.place, line: 0) {
                    bus,
                    message async throws -> JSONText in
                    let message = try PendingMessage(message, repliesOn: bus.eventLoop)
                    bus.change(pending: 1)
                    defer { bus.change(pending: -1) }
                    return try await message.answer(by: host)
                }
            )
        )
    }

    func subscribe(_ pattern: String, _ host: HostSubscriber) throws(RoutingError) -> UInt64 {
        self.add(
            .registration(
                // The closure is asynchronous, because the calls that the subscriber begins then inherit the
                // hop count and the deadline of the message from a task-local value.
                try self.bus.subscribe(pattern, on: self) { _, message async throws in
                    host.call(try PendingMessage(message))
                }
            )
        )
    }

    /// Begins a call, whose outcome the host receives in a later turn of the loop.
    func begin(
        _ done: HostCompletion?,
        to url: String,
        _ call: @escaping @Sendable (MessageBus) async throws -> any Sendable
    ) -> UInt64 {
        self.lastID += 1
        let id = self.lastID
        let task = self.start { bus in
            do {
                // The host can cancel the call in the turn in which the call begins.
                if Task.isCancelled { throw RoutingError.cancelled(url: url) }
                return try HostOutcome(await call(bus.bus))
            } catch {
                return HostOutcome(error)
            }
        } done: { bus, outcome in
            bus.entries[id] = nil
            done?.call(outcome)
        }
        self.entries[id] = .call(task)
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

    /// Closes the bus: fails its pending calls, closes the handles of the loop, and then calls the host.
    ///
    /// The call and the release of the bus must happen only once, so the bus must not be closing already.
    func close(_ closed: HostClosed) {
        self.isClosing = true
        self.eventLoop.onClosed {
            closed.call()
            self.release()
        }
        self.start { bus in
            // The replies that handlers have given already reach their callers first.
            await bus.eventLoop.yield()
            await bus.bus.shutDown()
        } done: { bus, _ in
            // The registrations retain this object.
            bus.entries = [:]
            bus.isShutDown = true
        }
    }

    /// Runs the callbacks that are due.
    ///
    /// The result is false within a callback, because libuv cannot run a loop that is running already.
    nonisolated func dispatch() -> Bool {
        if self.isDispatching.exchange(true, ordering: .relaxed) { return false }
        defer { self.isDispatching.store(false, ordering: .relaxed) }
        self.eventLoop.dispatch()
        return true
    }

    /// Starts work in a later turn of the loop, and calls a closure with the result.
    ///
    /// The loop starts all work in the order of the calls of this method. The closure is not part of the
    /// task of the work: a call that the host begins in the closure is new work, and must not inherit the
    /// deadline and the hop count of the handler in which the host began this work.
    @discardableResult
    private func start<Result: Sendable>(
        _ work: @escaping @Sendable (isolated HostBus) async -> Result,
        done: @escaping @Sendable (isolated HostBus, Result) -> Void
    ) -> Task<Void, Never> {
        self.change(pending: 1)
        return Task {
            let result = await work(self)
            self.eventLoop.execute {
                self.assumeOnLoop { bus in
                    done(bus, result)
                    bus.change(pending: -1)
                }
            }
        }
    }

    private func change(pending change: Int) {
        self.pending += change
        if self.pending > 0 {
            if self.keepsAlive == nil {
                self.keepsAlive = self.eventLoop.schedule(at: .now + .seconds(1 << 30)) {}
            }
        } else {
            self.keepsAlive.take()?.cancel()
            if self.isShutDown { self.eventLoop.beginShutDown() }
        }
    }

    private func checkOpen() throws(RoutingError) {
        if self.isClosing { throw RoutingError(.shutDown, message: "the bus is already being closed") }
    }

    private func note(_ error: any Error) -> Int32 {
        self.error = CText(HostOutcome.sentence(error))
        return HostStatus(error).rawValue
    }

    private func add(_ entry: Entry) -> UInt64 {
        self.lastID += 1
        self.entries[self.lastID] = entry
        return self.lastID
    }
}

extension HostBus {
    /// Returns the object of a host's pointer.
    static func of(_ pointer: OpaquePointer?) -> HostBus? {
        // The header requires a pointer that `retained` has returned and whose bus has not closed.
        unsafe pointer.map { unsafe CallbackContext.object(of: UnsafeMutableRawPointer($0)) }
    }

    /// A pointer for the host, which retains the object.
    nonisolated var retained: OpaquePointer {
        // Only the closing of the bus releases the object.
        unsafe OpaquePointer(CallbackContext.retaining(self))
    }

    private nonisolated func release() {
        // Balances `retained`. This method runs once, because `close` succeeds only once.
        unsafe CallbackContext.take(CallbackContext.borrowing(self), as: HostBus.self)
    }

    /// Runs a closure with the bus, on the thread of the bus.
    ///
    /// The call fails if the calling thread is not the thread of the bus, or if the bus is closing and
    /// `whileClosing` is false.
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
            if !whileClosing { try bus.assumeOnLoop { bus throws(RoutingError) in try bus.checkOpen() } }
            try body(bus)
            return HostStatus.ok.rawValue
        } catch {
            return bus.assumeOnLoop { $0.note(error) }
        }
    }

    private static let noBus = CText("the bus is a null pointer")
    private static let wrongThread = CText("the calling thread is not the thread of the bus")

    /// Returns the error message of the last call that failed, or a constant message if the calling thread
    /// cannot read the bus.
    static func error(of pointer: OpaquePointer?) -> CText {
        guard let bus = unsafe self.of(pointer) else { return self.noBus }
        guard bus.eventLoop.isInEventLoop else { return self.wrongThread }
        return bus.assumeOnLoop { $0.error }
    }
}

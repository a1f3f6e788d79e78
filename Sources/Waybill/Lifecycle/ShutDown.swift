internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension MessageBus {
    /// Ends the bus: takes no new messages, lets those in flight end, and fails the rest.
    ///
    /// What a handler in flight routes or sends is still delivered, so that it can finish. Callers from
    /// outside, and callers that still wait at the deadline, fail with `shutDown`. The event loop keeps
    /// running for its other users. Shutting down again changes nothing.
    ///
    /// A handler may call this. Neither its own message nor that of a handler which waits for it is waited
    /// for or counted: they have until the deadline to reply, and may not route any more once this has
    /// returned.
    ///
    /// - Parameter deadline: how long to wait for what is in flight, by the bus's clock.
    /// - Returns: how many messages ended in time, and how many did not.
    @discardableResult
    public func shutDown(drainingUntil deadline: ContinuousClock.Instant) async -> DrainSummary {
        await EventLoop.yieldIfDue()
        return await self.core.drain(until: Deadline(deadline))
    }

    /// Ends the bus as ``shutDown(drainingUntil:)`` does, with a time instead of a deadline.
    ///
    /// - Parameter limit: how long to wait for what is in flight, by the bus's clock; by default what has not
    ///   ended fails at once.
    /// - Returns: how many messages ended in time, and how many did not.
    @discardableResult
    public func shutDown(drainingFor limit: Duration = .zero) async -> DrainSummary {
        await self.shutDown(drainingUntil: self.core.time.instant + limit)
    }
}

/// Runs code with a bus, and ends the bus on every path: when the code returns, throws or is cancelled.
///
/// ```swift
/// let answer = try await withMessageBus(MessageBus()) { bus in
///     try bus.register("app://now") { _ in 1 }
///     return try await bus.route("app://now", as: Int.self)
/// }
/// ```
///
/// - Parameters:
///   - bus: the bus; nothing can be delivered on it afterwards.
///   - limit: how long what is still in flight may take to end.
///   - body: runs where the caller is isolated.
/// - Returns: what the code returns.
/// - Throws: what the code throws.
public nonisolated(nonsending) func withMessageBus<Result>(
    _ bus: MessageBus,
    drainingFor limit: Duration = .zero,
    _ body: nonisolated(nonsending) (MessageBus) async throws -> Result
) async rethrows -> Result {
    let result: Result
    do {
        result = try await body(bus)
    } catch {
        await bus.shutDown(drainingFor: limit)
        throw error
    }
    await bus.shutDown(drainingFor: limit)
    return result
}

/// How a bus ended.
public struct DrainSummary: Sendable, Equatable {
    /// Messages that were in flight when the bus stopped taking new ones, and ended by themselves in time; a
    /// call of the uncaught handler counts as one.
    public let finished: Int

    /// Messages that did not end in time, and failed with `shutDown`, and calls of the uncaught handler that
    /// had not returned.
    public let abandoned: Int
}

extension BusCore {
    func drain(until deadline: Deadline) async -> DrainSummary {
        _ = self.phase.compareExchange(
            expected: .open,
            desired: .draining,
            ordering: .sequentiallyConsistent
        )
        // Called in a handler, this would wait for that handler, which waits for this call.
        let own = DeliveryContext.current?.exchanges.filter(\.isCounted) ?? []
        self.exempt.withLock { $0.add(own) }
        // Another drain may have waited for these alone.
        if !own.isEmpty { self.noteEnd() }
        let inFlight = self.unended
        await self.waitForEnds(until: deadline)
        let left = self.unended
        let isInTime = !deadline.hasPassed(by: self.time) && !Task.isCancelled
        let exempt = isInTime ? self.exempt.withLock { $0.exchanges } : []
        self.retireAll(exempting: exempt)
        self.fail(exempt, at: deadline)
        return DrainSummary(finished: max(0, inFlight - left), abandoned: max(0, left - exempt.count))
    }

    /// Suspends until all that is in flight is exempt from draining, the deadline has passed, or the task is
    /// cancelled.
    private func waitForEnds(until deadline: Deadline) async {
        if deadline.hasPassed(by: self.time) || Task.isCancelled || self.isDrained(.butExempt) { return }
        let id = self.drainWaiters.withLock { $0.nextID() }
        let waiter = SuspendedTask(on: .current)
        // Not on the caller's loop, which a handler may block.
        var watch: DeadlineWatch?
        await waiter.wait(isolation: #isolation) {
            self.drainWaiters.withLock { $0.add(id, .butExempt) { waiter.resume() } }
            watch = DeadlineWatch(deadline, by: self.time, on: nil) { self.endWait(id) }
            self.noteEndsEverywhere()
            if Task.isCancelled { self.endWait(id) }
        } onCancel: {
            self.endWait(id)
        }
        watch?.cancel()
    }

    /// Whether a message may end although its handler is no longer registered.
    func isExempt(_ exchange: Exchange) -> Bool {
        self.exempt.withLock { $0.exchanges.contains { $0 === exchange } }
    }

    /// Fails what has not ended when the bus's time is up.
    private func fail(_ exchanges: [Exchange], at deadline: Deadline) {
        for exchange in exchanges {
            // Waiting for the deadline must not keep the exchange, and so the core.
            _ = DeadlineWatch(deadline, by: self.time, on: nil) { [weak exchange] in
                guard let exchange else { return }
                exchange.finish(.failed(.shutDown(url: exchange.url)))
            }
        }
    }
}

/// Exchanges excluded from draining, because their handlers called ``MessageBus/shutDown(drainingUntil:)``.
struct DrainExemptions {
    private struct Entry {
        weak var exchange: Exchange?
    }

    private var entries: [Entry] = []

    /// Those that have not ended yet.
    var exchanges: [Exchange] { self.entries.compactMap(\.exchange).filter { !$0.isOver } }

    mutating func add(_ exchanges: [Exchange]) {
        self.entries.append(contentsOf: exchanges.map(Entry.init))
    }
}

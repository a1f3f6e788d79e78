internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension MessageBus {
    /// Shuts the bus down: rejects new messages, lets messages in flight end, and fails the messages that are
    /// left.
    ///
    /// Messages that a handler in flight routes or sends are still delivered, so that the handler can finish.
    /// Messages of tasks that a handler has started are delivered too. Other callers fail with `shutDown`,
    /// and so do callers that still wait at the deadline.
    /// The event loop keeps running for its other users. A second call during the first can only shorten the
    /// wait: the earlier deadline applies to both.
    ///
    /// There is one exception: middlewares handle a message without a deadline in its caller's task if the
    /// handler cannot suspend. The caller then resumes when the middlewares have returned, even after the
    /// deadline.
    ///
    /// A handler may call this method. The method then neither waits for nor counts two kinds of messages:
    /// the message of this handler, and the messages of handlers that wait for this handler. These handlers
    /// may reply until the deadline, but they cannot route messages after this method has returned.
    ///
    /// - Parameter deadline: The time until which to wait for messages in flight, by the bus's clock.
    /// - Returns: The number of messages that ended in time, and the number of messages that did not.
    @discardableResult
    public func shutDown(drainingUntil deadline: ContinuousClock.Instant) async -> DrainSummary {
        await EventLoop.yieldIfDue()
        return await self.core.drain(until: Deadline(deadline))
    }

    /// Shuts the bus down like ``shutDown(drainingUntil:)``, with a duration instead of a deadline.
    ///
    /// By default, messages in flight fail at once.
    @discardableResult
    public func shutDown(drainingFor limit: Duration = .zero) async -> DrainSummary {
        await self.shutDown(drainingUntil: self.core.time.instant + limit)
    }
}

/// Calls a closure with a bus, and shuts the bus down when the closure returns, throws or is cancelled.
///
/// ```swift
/// let answer = try await withMessageBus(MessageBus()) { bus in
///     try bus.register("app://now") { _ in 1 }
///     return try await bus.route("app://now", as: Int.self)
/// }
/// ```
///
/// - Parameters:
///   - bus: The bus. After this call, the bus delivers no messages.
///   - limit: The duration to wait for messages in flight.
///   - body: The closure, which runs in the caller's isolation.
/// - Returns: The result of the closure.
/// - Throws: The error that the closure throws.
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

/// The result of a shutdown of a bus.
public struct DrainSummary: Sendable, Equatable {
    /// The number of messages that were in flight when the bus began to reject new messages, and that ended
    /// in time, minus one for each abandoned message that a handler has sent meanwhile.
    ///
    /// A call of the uncaught handler (``MessageBus/setUncaughtHandler(includingPublished:_:)``) is a
    /// message.
    public let finished: Int

    /// The number of messages that did not end in time and failed with `shutDown`.
    public let abandoned: Int
}

extension BusCore {
    func drain(until deadline: Deadline) async -> DrainSummary {
        _ = self.phase.compareExchange(expected: .open, desired: .draining, ordering: .sequentiallyConsistent)
        // If a handler calls this method, the method must not wait for that handler, because the handler
        // waits for the method.
        let own = DeliveryContext.current?.exchanges.filter { $0.isCounted && $0.core === self } ?? []
        self.exempt.withLock { $0.append(own) }
        // These exchanges are exempt now. If another call of this method waits only for them, that call can
        // end.
        if !own.isEmpty { self.noteEnd() }
        let inFlight = self.unended
        await self.waitForEnds(until: deadline)
        let left = self.unended
        let isInTime = !deadline.hasPassed(by: self.time) && !Task.isCancelled
        let exempt = isInTime ? self.exemptExchanges : []
        self.retireAll(exempting: exempt)
        self.fail(exempt, at: deadline)
        return DrainSummary(finished: max(0, inFlight - left), abandoned: max(0, left - exempt.count))
    }

    /// Suspends until only exempt messages are in flight, the deadline has passed, or the task is cancelled.
    private func waitForEnds(until deadline: Deadline) async {
        if deadline.hasPassed(by: self.time) || Task.isCancelled { return }
        if self.isDrained(ignoringExempt: true) { return }
        let id = self.drainWaiters.withLock { $0.nextNumber() }
        let waiter = SuspendedTask(on: .current)
        // The timer is not on the caller's loop, because a handler may block that loop.
        var watch: DeadlineWatch?
        await waiter.wait(isolation: #isolation) {
            let drain = DrainWaiter(ignoresExempt: true) { waiter.resume() }
            self.drainWaiters.withLock { $0.add(drain, as: id) }
            watch = DeadlineWatch(deadline, by: self.time, on: nil) { self.endWait(id) }
            self.noteEndsEverywhere()
            if Task.isCancelled { self.endWait(id) }
        } onCancel: {
            self.endWait(id)
        }
        watch?.cancel()
    }

    /// Returns whether the handler of a message may finish although the handler is no longer registered.
    func isExempt(_ exchange: Exchange) -> Bool {
        self.exemptExchanges.contains { $0 === exchange }
    }

    /// The exchanges for which the shutdown does not wait, and that have not ended.
    var exemptExchanges: [Exchange] {
        // The handlers of several messages may exempt the same exchange, on which each of them depends.
        var found: Set<CorrelationID> = []
        // An exchange may be released here, and its `deinit` may take the lock. Filter outside the lock.
        return self.exempt.withLock { $0.exchanges }.filter { !$0.isOver && found.insert($0.id).inserted }
    }

    /// Sets a timer that fails the exchanges that have not ended at the deadline.
    private func fail(_ exchanges: [Exchange], at deadline: Deadline) {
        for exchange in exchanges {
            // The timer must not retain the exchange, because the exchange retains the core.
            _ = DeadlineWatch(deadline, by: self.time, on: nil) { [weak exchange] in
                guard let exchange else { return }
                exchange.finish(.failed(.shutDown(url: exchange.url)))
            }
        }
    }
}

/// Exchanges for which a shutdown does not wait, because their handlers called
/// ``MessageBus/shutDown(drainingUntil:)``.
struct DrainExemptions {
    private struct Entry {
        weak var exchange: Exchange?
    }

    private var entries: [Entry] = []

    /// The exempt exchanges that exist; some of them have possibly ended.
    var exchanges: [Exchange] { self.entries.compactMap(\.exchange) }

    mutating func append(_ exchanges: [Exchange]) {
        self.entries.append(contentsOf: exchanges.map(Entry.init))
    }
}

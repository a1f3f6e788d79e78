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
    /// - Parameter deadline: how long to wait for what is in flight.
    /// - Returns: how many messages ended in time, and how many did not.
    @discardableResult
    public func shutDown(drainingUntil deadline: ContinuousClock.Instant = .now) async -> DrainSummary {
        await EventLoop.yieldIfDue()
        return await self.core.drain(until: deadline)
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
        await bus.shutDown(drainingUntil: bus.core.time.instant + limit)
        throw error
    }
    await bus.shutDown(drainingUntil: bus.core.time.instant + limit)
    return result
}

/// How a bus ended.
public struct DrainSummary: Sendable, Equatable {
    /// Messages that were in flight when the bus stopped taking new ones, and ended by themselves in time.
    public let finished: Int

    /// Messages that did not end in time, and failed with `shutDown`.
    public let abandoned: Int
}

extension BusCore {
    /// How often a bus that is shutting down looks whether its messages have ended.
    private static let interval = Duration.milliseconds(1)

    func drain(until deadline: ContinuousClock.Instant) async -> DrainSummary {
        _ = self.phase.compareExchange(
            expected: .open,
            desired: .draining,
            ordering: .sequentiallyConsistent
        )
        // Called in a handler, this would wait for that handler, which waits for this call.
        let own = DeliveryContext.current?.exchanges.filter(\.isCounted) ?? []
        self.exempt.withLock { $0.add(own) }
        let inFlight = self.statistics.current.inFlight
        // What is in flight is counted first, or one that is exempt and ends in between would hide another.
        while self.statistics.current.inFlight > self.exempt.withLock({ $0.exchanges.count }),
            .now < deadline, !Task.isCancelled
        {
            try? await Task.sleep(for: min(Self.interval, ContinuousClock.now.duration(to: deadline)))
        }
        let left = self.statistics.current.inFlight
        let exempt = deadline > .now && !Task.isCancelled ? self.exempt.withLock { $0.exchanges } : []
        self.retireAll(exempting: exempt)
        self.fail(exempt, at: deadline)
        return DrainSummary(finished: max(0, inFlight - left), abandoned: max(0, left - exempt.count))
    }

    /// Whether a message may end although its handler is no longer registered.
    func isExempt(_ exchange: Exchange) -> Bool {
        self.exempt.withLock { $0.exchanges.contains { $0 === exchange } }
    }

    /// Fails what has not ended when the bus's time is up.
    private func fail(_ exchanges: [Exchange], at deadline: ContinuousClock.Instant) {
        for exchange in exchanges {
            // Waiting for the deadline must not keep the exchange, and so the core.
            DeadlineWatch.timekeeper.schedule(at: Deadline(deadline)) { [weak exchange] in
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

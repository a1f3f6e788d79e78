internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// How often a bus that is shutting down looks whether its messages have ended.
    private static let interval = Duration.milliseconds(1)

    func drain(until deadline: ContinuousClock.Instant) async -> DrainSummary {
        _ = self.phase.compareExchange(
            expected: .open,
            desired: .draining,
            ordering: .sequentiallyConsistent
        )
        // Called in a handler, this would wait for that handler, which waits for this.
        let own = self.exchanges(for: DeliveryContext.current?.messages ?? [])
        self.spared.withLock { $0.add(own) }
        let inFlight = self.books.statistics.inFlight
        // What is in flight is counted first, or one that is spared and ends in between would hide another.
        while self.books.statistics.inFlight > self.spared.withLock({ $0.exchanges.count }),
            .now < deadline, !Task.isCancelled
        {
            try? await Task.sleep(for: min(Self.interval, ContinuousClock.now.duration(to: deadline)))
        }
        let left = self.books.statistics.inFlight
        let spared = deadline > .now && !Task.isCancelled ? self.spared.withLock { $0.exchanges } : []
        self.retireAll(sparing: spared)
        self.fail(spared, at: deadline)
        return DrainSummary(finished: max(0, inFlight - left), abandoned: max(0, left - spared.count))
    }

    /// The exchanges of messages that are being handled.
    private func exchanges(for ids: Set<CorrelationID>) -> [Exchange] {
        guard !ids.isEmpty else { return [] }
        return (self.directory.handlers + self.topics.handlers).flatMap { $0.exchanges(for: ids) }
    }

    /// Fails what has not ended when the bus's time is up.
    private func fail(_ exchanges: [Exchange], at deadline: ContinuousClock.Instant) {
        for exchange in exchanges {
            // Waiting for the deadline must not keep what the bus was made of.
            DeadlineWatch.timekeeper.schedule(at: Deadline(deadline)) { [weak exchange] in
                guard let exchange else { return }
                exchange.finish(.failed(.shutDown(url: exchange.url)))
            }
        }
    }
}

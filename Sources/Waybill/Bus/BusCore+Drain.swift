internal import Synchronization

extension BusCore {
    /// How often a bus that is shutting down looks whether its messages have ended.
    private static let interval = Duration.milliseconds(1)

    func drain(until deadline: ContinuousClock.Instant) async -> DrainSummary {
        _ = self.phase.compareExchange(
            expected: .open,
            desired: .draining,
            ordering: .sequentiallyConsistent
        )
        let inFlight = self.books.statistics.inFlight
        while self.books.statistics.inFlight > 0, .now < deadline, !Task.isCancelled {
            try? await Task.sleep(for: min(Self.interval, ContinuousClock.now.duration(to: deadline)))
        }
        let abandoned = self.books.statistics.inFlight
        self.retireAll()
        return DrainSummary(finished: max(0, inFlight - abandoned), abandoned: abandoned)
    }
}

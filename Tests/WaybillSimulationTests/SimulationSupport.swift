import Testing
import Waybill
import WaybillSimulation

#if Macros
/// A module with a defect that appears in some orders of its messages.
@Module("app://stock")
actor Stock {
    private(set) var count = 5

    @Route func take() async throws {
        guard self.count > 0 else { return }
        try await Task.sleep(for: .milliseconds(5))
        self.count -= 1
    }

    @Route func show() async -> Int {
        await Task.yield()
        return self.count
    }
}
#endif

/// Runs a simulation that must fail, and returns the failure.
func failure(
    seeds: ClosedRange<UInt64> = 1...100,
    faults: Faults = .none,
    schedule: SimulationSchedule = .random,
    limits: SimulationLimits = SimulationLimits(),
    _ body: @escaping @Sendable (World) async throws -> Void
) async throws -> SimulationFailure {
    try #require(
        await #expect(throws: SimulationFailure.self) {
            try await simulate(seeds: seeds, faults: faults, schedule: schedule, limits: limits, body)
        }
    )
}

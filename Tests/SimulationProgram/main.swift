// Measures simulations.
//
//   SimulationProgram hashes COUNT        prints the hash of the run of each seed from 1 to COUNT, for each planted bug;
//                                         every process, and every build, must print the same hashes
//   SimulationProgram bugs                prints how many of 200 seeds find each planted bug, for each schedule
//   SimulationProgram shop FIRST COUNT    runs a shop with all faults, and prints the real and the simulated time
#if Macros
import PlantedBugs
import Synchronization
import Waybill
import WaybillSimulation

let arguments = Array(CommandLine.arguments.dropFirst())
let numbers = arguments.dropFirst().compactMap { UInt64($0) }

/// Returns the number of seeds of 200 whose run fails.
func failures(of bug: PlantedBug, _ schedule: SimulationSchedule) async throws -> Int {
    var count = 0
    for seed in 1...200 as ClosedRange<UInt64> {
        do {
            try await simulate(seed: seed, faults: bug.faults, schedule: schedule, bug.program)
        } catch is SimulationFailure {
            count += 1
        }
    }
    return count
}

switch arguments.first {
case "hashes":
    for bug in PlantedBug.all {
        for seed in 1...(numbers.first ?? 10) {
            print(await traceHash(seed: seed, faults: bug.faults, bug.program))
        }
    }
case "bugs":
    print("random, pct(2), pct(3), pct(5)")
    for bug in PlantedBug.all {
        var counts: [String] = []
        for schedule in [.random, .pct(depth: 2), .pct(depth: 3), .pct(depth: 5)] as [SimulationSchedule] {
            counts.append("\(try await failures(of: bug, schedule))")
        }
        print(counts.joined(separator: ", "), bug.name)
    }
case "shop":
    guard numbers.count == 2 else { fatalError("usage: SimulationProgram shop FIRST COUNT") }
    let simulated = Mutex(Duration.zero)
    let start = ContinuousClock.now
    try await simulate(seeds: numbers[0]...numbers[0] + numbers[1] - 1, faults: PlantedShop.faults) { world in
        try await PlantedShop.run(in: world)
        simulated.withLock { $0 += world.elapsed }
    }
    print("real \(ContinuousClock.now - start), simulated \(simulated.withLock { $0 })")
default: print("usage: SimulationProgram hashes | bugs | shop")
}
#endif

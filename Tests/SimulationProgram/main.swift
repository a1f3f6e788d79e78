// Prints the hash of the run of each seed from 1 to COUNT: SimulationProgram COUNT. Every process, and every build,
// must print the same hashes.
#if Macros
import PlantedBugs
import WaybillSimulation

let count = CommandLine.arguments.dropFirst().first.flatMap { UInt64($0) } ?? 10
for bug in PlantedBug.all {
    for seed in 1...count {
        print(await traceHash(seed: seed, faults: bug.faults, bug.program))
    }
}
#endif

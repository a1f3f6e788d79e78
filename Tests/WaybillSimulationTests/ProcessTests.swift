#if Macros
import Foundation
import PlantedBugs
import Testing
import WaybillSimulation

@Suite(.skippedByLeakChecks, .timeLimit(.minutes(5)))
struct ProcessTests {
    @Test func `a seed leads to the same simulation run in every process`() async throws {
        let seeds: ClosedRange<UInt64> = 1...10
        var expected: [String] = []
        for bug in PlantedBug.all {
            for seed in seeds {
                expected.append("\(await traceHash(seed: seed, faults: bug.faults, bug.program))")
            }
        }
        #expect(Set(expected).count > 150)
        for _ in 0..<2 {
            let process = Process()
            process.executableURL = URL(filePath: CommandLine.arguments[0])
                .deletingLastPathComponent().appending(path: "SimulationProgram")
            process.arguments = ["hashes", "\(seeds.count)"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(String(decoding: data, as: UTF8.self).split(separator: "\n").map { "\($0)" } == expected)
        }
    }
}
#endif

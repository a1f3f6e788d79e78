import Foundation
import Testing
import WaybillTestSupport

/// The recorded behaviour of routers that deliver: LiliCode's Router, which has a connector per scheme, and
/// COCRouter, whose completions have modes.
@Suite(.timeLimit(.minutes(1)))
struct ConformanceTests {
    @Test func `connectors behave as was recorded`() async throws {
        try await self.compare("lilicode-router", in: "lilicode-router", as: RecordedConnectors.self)
    }

    @Test func `completions and filters are as was recorded`() async throws {
        try await self.compare("cocrouter-forward", in: "cocrouter", as: RecordedForwards.self)
    }

    /// Compares every case of a file with what the bus does.
    private func compare<Case: RecordedCase>(_ name: String, in file: String, as type: Case.Type) async throws
    {
        let cases = try JSONDecoder().decode([Case].self, from: RecordedCases.data(of: file))
        let excuses = try RecordedCases.excuses()
        var excused = 0
        var failures: [String] = []
        for recorded in cases {
            guard let difference = try await recorded.difference() else { continue }
            if excuses[recorded.id] != nil {
                excused += 1
            } else {
                failures.append("\(recorded.id): \(difference)")
            }
        }
        let held = cases.count - failures.count - excused
        print("\(name): \(held) of \(cases.count) hold, \(excused) excused")
        #expect(Double(held) / Double(cases.count) >= 0.85)
        if RecordedCases.areOwn { #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))") }
        for failure in failures where !RecordedCases.areOwn { print("  \(failure)") }
    }
}

import Foundation
import Testing
import WaybillTestSupport

/// The recorded behaviour of ZIKRouter, which makes what is asked for by protocol.
@Suite(.timeLimit(.minutes(1)))
struct ConformanceTests {
    @Test func `performing and removing go as was recorded`() async throws {
        let data = try RecordedCases.data(of: "zikrouter-perform")
        let json = try #require(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        let cases = try json.map { try #require(RecordedPerform($0)) }
        let excuses = try RecordedCases.excuses()
        var excused = 0
        var failures: [String] = []
        for recorded in cases {
            let outcome = try await recorded.outcome()
            if let outcome, recorded.expects(outcome) { continue }
            if excuses[recorded.id] != nil {
                excused += 1
            } else {
                failures.append("\(recorded.id): \(outcome.map { "\($0)" } ?? "nothing") is not \(recorded)")
            }
        }
        let held = cases.count - failures.count - excused
        print("zikrouter-perform: \(held) of \(cases.count) hold, \(excused) excused")
        #expect(held > 0)
        if RecordedCases.areOwn { #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))") }
        for failure in failures where !RecordedCases.areOwn { print("  \(failure)") }
    }
}

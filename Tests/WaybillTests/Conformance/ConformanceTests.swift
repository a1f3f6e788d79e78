import Foundation
import Testing

/// The recorded behaviour of routers that deliver: LiliCode's Router, which has a connector per scheme, COCRouter, whose
/// completions have modes, and ZIKRouter, which makes what is asked for by protocol.
///
/// The cases are read from the project's own copy, or from the folder that `WAYBILL_CONFORMANCE` names.
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
        let own = try #require(Bundle.module.resourceURL).appending(path: "Conformance")
        let folder = ProcessInfo.processInfo.environment["WAYBILL_CONFORMANCE"]
        let cases: [Case] = try self.read("\(file).json", in: folder.map { URL(filePath: $0) } ?? own)
        let excuses: [String: String] = try self.read("excused.json", in: own)
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
        // Cases from elsewhere are more than those whose excuses are known here.
        if folder == nil { #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))") }
        for failure in failures where folder != nil { print("  \(failure)") }
    }

    @Test func `performing and removing go as was recorded`() async throws {
        let own = try #require(Bundle.module.resourceURL).appending(path: "Conformance")
        let folder = ProcessInfo.processInfo.environment["WAYBILL_CONFORMANCE"].map { URL(filePath: $0) }
        let data = try Data(contentsOf: (folder ?? own).appending(path: "zikrouter-perform.json"))
        let json = try #require(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        let cases = try json.map { try #require(RecordedPerform($0)) }
        let excuses: [String: String] = try self.read("excused.json", in: own)
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
        if folder == nil { #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))") }
        for failure in failures where folder != nil { print("  \(failure)") }
    }

    private func read<Value: Decodable>(_ name: String, in folder: URL) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(contentsOf: folder.appending(path: name)))
    }
}

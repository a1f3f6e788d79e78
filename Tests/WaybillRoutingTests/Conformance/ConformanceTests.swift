import Foundation
import Testing
import WaybillTestSupport

/// The recorded behaviour of other routers.
@Suite struct ConformanceTests {
    /// A file of cases and how it is read.
    struct File: CustomTestStringConvertible {
        let name: String
        let share: Double
        let read: @Sendable (JSON) -> RecordedCase

        var testDescription: String { self.name }
    }

    static let files = [
        File(name: "route-language", share: 1, read: RecordedCase.routeLanguage),
        File(name: "yfrouter", share: 0.85, read: RecordedCase.yfRouter),
        File(name: "ftrouter", share: 0.85, read: RecordedCase.ftRouter),
        File(name: "cocrouter", share: 0.85, read: RecordedCase.cocRouter),
        File(name: "zikrouter", share: 0.85, read: RecordedCase.zikRouter),
    ]

    @Test(arguments: Self.files)
    func `answers as recorded`(file: File) throws {
        let cases = try JSONDecoder().decode(JSON.self, from: RecordedCases.data(of: file.name)).array
        let excuses = try RecordedCases.excuses()
        var excused = 0
        var failures: [String] = []
        for json in cases {
            let recorded = file.read(json)
            let answer = recorded.answer()
            if answer == recorded.expected { continue }
            if excuses[recorded.id] != nil {
                excused += 1
            } else {
                failures.append("\(recorded.id): \(recorded.url) gives \(answer), not \(recorded.expected)")
            }
        }
        let held = cases.count - failures.count - excused
        print("\(file.name): \(held) of \(cases.count) hold, \(excused) excused")
        let share = Double(held) / Double(cases.count)
        #expect(share >= file.share)
        if RecordedCases.areOwn { #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))") }
        for failure in failures where !RecordedCases.areOwn { print("  \(failure)") }
    }
}

import Testing
import WaybillTestSupport

/// The recorded behaviour of ZIKRouter, which creates the destinations of a protocol.
@Suite(.timeLimit(.minutes(1)))
struct ConformanceTests {
    @Test func `performing and removing behave as recorded`() async throws {
        let report = try await RecordedRouter.perform.report()
        print(report)
        let failures = report.failures.map { "  \($0)" }.joined(separator: "\n")
        if RecordedCases.areOwn {
            #expect(report.failures.isEmpty, "\(failures)")
            #expect(report.comparisons == RecordedRouter.perform.comparisons)
            // At most one of ten cases may be excused.
            #expect(report.excused * 10 <= report.total)
        } else {
            print(failures)
            #expect(report.held > 0)
        }
    }
}

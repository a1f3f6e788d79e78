import Foundation
import Testing
import WaybillTestSupport

/// The recorded behaviour of other routers, compared with a bus with the preset of each.
@Suite(.timeLimit(.minutes(2)))
struct ConformanceTests {
    static let routers: [RecordedRouter] = [
        .yfRouter, .ftRouter, .cocRouter, .liliCodeRouter, .zikRouter, .routeLanguage,
    ]

    @Test(arguments: Self.routers)
    func `a bus with a preset behaves as its router was recorded`(router: RecordedRouter) async throws {
        let report = try await router.report()
        print(report)
        let failures = report.failures.map { "  \($0)" }.joined(separator: "\n")
        if RecordedCases.areOwn {
            #expect(report.failures.isEmpty, "\(failures)")
            #expect(report.comparisons == router.comparisons)
            // At most one of ten cases may be excused.
            #expect(report.excused * 10 <= report.total)
        } else {
            print(failures)
            #expect(Double(report.held) / Double(report.total) >= 0.85)
        }
    }
}

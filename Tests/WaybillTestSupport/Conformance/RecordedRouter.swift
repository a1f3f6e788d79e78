internal import Foundation

/// A router whose behaviour was recorded, and the code that runs its cases on a bus.
///
/// A column holds if the behaviour of the bus, in the words of the recording, is equal to the recorded one.
/// Every column is compared. A recorded column that is not observed is a failure, except for the columns in
/// ``notes``.
package struct RecordedRouter: Sendable, CustomStringConvertible {
    /// The name of the file.
    package let name: String
    /// The number of compared columns in the project's cases.
    ///
    /// A smaller number means that some cases compare nothing.
    package let comparisons: Int
    /// The columns that do not describe the router, each with the reason.
    private let notes: [String: String]
    private let expected: @Sendable (RecordedCase) -> [String: JSON]
    private let play: @Sendable (RecordedCase) async throws -> [String: JSON]

    /// - Parameters:
    ///   - name: The name of the file.
    ///   - comparisons: The number of compared columns in the project's cases.
    ///   - notes: The columns that do not describe the router, each with the reason.
    ///   - expected: Returns the recorded columns in words that both routers have.
    ///   - play: Returns the behaviour of the bus in these words.
    package init(
        _ name: String,
        comparisons: Int,
        notes: [String: String] = [:],
        expected: @escaping @Sendable (RecordedCase) -> [String: JSON] = { $0.expect },
        play: @escaping @Sendable (RecordedCase) async throws -> [String: JSON]
    ) {
        self.name = name
        self.comparisons = comparisons
        self.notes = notes
        self.expected = expected
        self.play = play
    }

    package var description: String { self.name }

    /// The results of the cases in a file.
    package struct Report: Sendable, CustomStringConvertible {
        package let name: String
        package var total = 0
        /// The number of cases with an excused column.
        package var excused = 0
        /// The number of compared columns.
        package var comparisons = 0
        /// The cases that differ without an excuse, and the excuses without a difference.
        package var failures: [String] = []
        private var failed: Set<String> = []

        init(name: String) { self.name = name }

        package var held: Int { self.total - self.excused - self.failed.count }

        package var description: String {
            "\(self.name): \(self.held) of \(self.total) hold, \(self.excused) excused"
        }

        mutating func fail(_ recorded: RecordedCase, _ difference: String) {
            self.failed.insert(recorded.id)
            self.failures.append("\(recorded.id): \(recorded.url) \(difference)")
        }

        func hasFailed(_ recorded: RecordedCase) -> Bool { self.failed.contains(recorded.id) }
    }

    /// Runs each case of the file.
    package func report() async throws -> Report {
        let cases = try JSONDecoder().decode([RecordedCase].self, from: RecordedCases.data(of: self.name))
        let excuses = try RecordedCases.excuses()
        var report = Report(name: self.name)
        for recorded in cases {
            report.total += 1
            try await self.compare(recorded, excuses[recorded.id] ?? [:], &report)
        }
        return report
    }

    private func compare(
        _ recorded: RecordedCase,
        _ excuses: [String: String],
        _ report: inout Report
    ) async throws {
        let expected = self.expected(recorded)
        let observed = try await self.play(recorded)
        var isExcused = false
        for column in recorded.expect.keys where expected[column] == nil && self.notes[column] == nil {
            report.fail(recorded, "is not compared in \(column)")
        }
        for (column, value) in expected.sorted(by: { $0.key < $1.key }) where self.notes[column] == nil {
            report.comparisons += 1
            let isHeld = observed[column] == value
            switch (isHeld, excuses[column] ?? excuses["*"]) {
            case (true, nil): break
            case (true, _?) where excuses[column] == nil: break
            case (false, _?): isExcused = true
            case (false, nil):
                let what = observed[column].map { "\($0)" } ?? "not observed"
                report.fail(recorded, "has \(column) \(what), not \(value)")
            case (true, _?): report.fail(recorded, "is excused in \(column), which holds")
            }
        }
        if !isExcused, excuses["*"] != nil { report.fail(recorded, "is excused, and holds") }
        if isExcused, !report.hasFailed(recorded) { report.excused += 1 }
    }
}

#if Tool && Durable
import ArgumentParser
import Foundation
import Testing
import WaybillDurable

@testable import WaybillTool

@Suite struct StoreReportTests {
    private let record = DurableRecord(
        id: 7,
        url: "app://mail/7\u{1B}[2J",
        state: .dead,
        attempts: 10,
        sent: 0,
        time: 60_000,
        order: "a",
        code: "noRoute",
        failure: "noRoute app://mail/7",
        details: #"{"parameters":{"n":7}}"#
    )

    @Test func `the store command's table has a line for each message, without control characters`() {
        let table = StoreReport.table([self.record], isLong: false)
        #expect(
            table == """
                number  state  attempts  sent                  url                    last failure
                7       dead   10        1970-01-01T00:00:00Z  app://mail/7\\u001b[2J  noRoute app://mail/7

                """
        )
    }

    @Test func `the store command shows a single message with its order and its values`() {
        let table = StoreReport.table([self.record], isLong: true)
        #expect(table.hasSuffix("order: a\ndied: 1970-01-01T00:01:00Z\nvalues: {\"parameters\":{\"n\":7}}\n"))
    }

    @Test func `the store's figures have the mean duration of a commit`() throws {
        let json = """
            {"waiting": 1, "underway": 2, "dead": 3, "schedules": 4, "size": 4096, "attempts": 5, "commits": 0, \
            "commitTime": 10000}
            """
        var statistics = try JSONDecoder().decode(DurableStatistics.self, from: Data(json.utf8))
        #expect(StoreReport.table(statistics).hasSuffix("commits      0\ncommit (µs)  none\n"))
        statistics.commits = 4
        #expect(StoreReport.table(statistics).hasSuffix("commits      4\ncommit (µs)  2500\n"))
    }

    @Test func `an export of a store has one JSON object in each line`() throws {
        let text = try StoreReport.json([self.record, self.record])
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any]
        )
        #expect(object["id"] as? Int == 7)
        #expect(object["state"] as? String == "dead")
        #expect(object["details"] as? String == self.record.details)
    }

    @Test func `figures and schedules of a store are printed as JSON too, one object on each line`() throws {
        let text = """
            {"attempts":1,"commitTime":2,"commits":3,"dead":4,"schedules":5,"size":6,"underway":7,"waiting":8}
            """
        let statistics = try JSONDecoder().decode(DurableStatistics.self, from: Data(text.utf8))
        #expect(try StoreReport.lines([statistics, statistics]) == "\(text)\n\(text)\n")
    }

    @Test(arguments: [
        ["shop.db"], ["shop.db", "mend"], ["shop.db", "show"], ["shop.db", "list", "--limit", "0"],
        ["shop.db", "check", "--json"], ["shop.db", "retry", "--json"], ["shop.db", "drop", "--json"],
    ])
    func `the store command needs an action and the action's arguments`(arguments: [String]) {
        #expect(throws: (any Error).self) { try StoreCommand.parse(arguments) }
    }

    @Test func `the store command does not create a missing file`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID()).db").path
        let command = try StoreCommand.parse([path, "stats"])
        let error = await #expect(throws: FileError.self) { try await command.run() }
        #expect(error?.status == .unreadable)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
#endif

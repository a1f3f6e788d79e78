#if Tool && Durable
internal import Foundation
internal import WaybillCommands
internal import WaybillDurable

/// The output of `waybill store`, as tables and as JSON.
enum StoreReport {
    /// Returns messages as a table with titles; if `isLong` is true, their values follow below the table.
    static func table(_ records: [DurableRecord], isLong: Bool) -> String {
        let rows = records.map { record in
            [
                String(record.id), "\(record.state)", String(record.attempts), Self.time(record.sent),
                record.url,
                record.failure ?? "",
            ]
        }
        var text = Self.table([["number", "state", "attempts", "sent", "url", "last failure"]] + rows)
        guard isLong else { return text }
        for record in records {
            if let order = record.order { text += "order: \(Output.printable(order))\n" }
            text += "\(record.state == .dead ? "died" : "next attempt"): \(Self.time(record.time))\n"
            text += "values: \(Output.printable(record.details ?? "none"))\n"
        }
        return text
    }

    static func table(_ schedules: [DurableSchedule]) -> String {
        let rows = schedules.map { [$0.name, $0.rule, Self.time($0.next), $0.url] }
        return Self.table([["name", "rule", "next", "url"]] + rows)
    }

    static func table(_ statistics: DurableStatistics) -> String {
        let commits = statistics.commits
        return Self.table([
            ["waiting", String(statistics.waiting)], ["underway", String(statistics.underway)],
            ["dead", String(statistics.dead)], ["schedules", String(statistics.schedules)],
            ["oldest (ms)", statistics.oldestAge.map(String.init) ?? "none"],
            ["bytes", String(statistics.size)], ["attempts", String(statistics.attempts)],
            ["commits", String(commits)],
            ["commit (µs)", commits == 0 ? "none" : String(statistics.commitTime / commits)],
        ])
    }

    /// Returns messages as JSON, with one object on each line.
    static func json(_ records: [DurableRecord]) throws -> String { try self.lines(records.map(Line.init)) }

    /// Returns values as JSON, with one object on each line.
    static func lines(_ values: [some Encodable]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try values.map { value in
            Output.printable(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
        }.joined()
    }

    private struct Line: Encodable {
        let id, attempts: Int
        let url, state, sent, time: String
        let order, code, failure, details: String?

        init(_ record: DurableRecord) {
            self.id = record.id
            self.attempts = record.attempts
            self.url = record.url
            self.state = "\(record.state)"
            self.sent = StoreReport.time(record.sent)
            self.time = StoreReport.time(record.time)
            self.order = record.order
            self.code = record.code
            self.failure = record.failure
            self.details = record.details
        }
    }

    private static func table(_ rows: [[String]]) -> String {
        AlignedRows.lines(rows.map { $0.map(Output.printable) }).map { $0 + "\n" }.joined()
    }

    private static func time(_ milliseconds: Int) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
    }
}
#endif

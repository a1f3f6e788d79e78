#if Durable
import Foundation
import Testing
@testable import WaybillDurable

@Suite struct CronTests {
    /// Returns the first times of an expression after a time, each as local time with its offset.
    private func times(
        _ expression: String,
        in zone: String = "UTC",
        after start: String,
        count: Int = 3
    ) throws -> [String] {
        let rule = try DurableRule.cron(expression, in: zone)
        let format = ISO8601DateFormatter()
        let date = try #require(format.date(from: start))
        format.timeZone = TimeZone(identifier: zone)
        var time = Int(date.timeIntervalSince1970) * 1_000
        var times: [String] = []
        for _ in 0..<count {
            time = rule.next(after: time)
            times.append(format.string(from: Date(timeIntervalSince1970: Double(time) / 1_000)))
        }
        return times
    }

    // Expressions and times from the tests of cron parsers.
    @Test(arguments: [
        (
            "* * * * *", "2026-01-01T00:00:30Z",
            ["2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z", "2026-01-01T00:03:00Z"]
        ),
        (
            "0 3 * * *", "2026-01-01T03:00:00Z",
            ["2026-01-02T03:00:00Z", "2026-01-03T03:00:00Z", "2026-01-04T03:00:00Z"]
        ),
        (
            "*/15 * * * *", "2026-01-01T00:46:00Z",
            ["2026-01-01T01:00:00Z", "2026-01-01T01:15:00Z", "2026-01-01T01:30:00Z"]
        ),
        (
            "5-59/20 * * * *", "2026-01-01T00:00:00Z",
            ["2026-01-01T00:05:00Z", "2026-01-01T00:25:00Z", "2026-01-01T00:45:00Z"]
        ),
        (
            "0 0 29 2 *", "2026-01-01T00:00:00Z",
            ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z", "2036-02-29T00:00:00Z"]
        ),
        (
            "0 0 31 * *", "2026-01-31T00:00:00Z",
            ["2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z"]
        ),
        (
            "30 9 * * mon-fri", "2026-01-02T10:00:00Z",
            ["2026-01-05T09:30:00Z", "2026-01-06T09:30:00Z", "2026-01-07T09:30:00Z"]
        ),
        (
            "0 0 13 * 5", "2026-02-01T00:00:00Z",
            ["2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"]
        ),
        (
            "0 0 * * 7", "2026-01-01T00:00:00Z",
            ["2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z", "2026-01-18T00:00:00Z"]
        ),
        (
            "0 0 1 JAN,jul *", "2026-01-01T00:00:00Z",
            ["2026-07-01T00:00:00Z", "2027-01-01T00:00:00Z", "2027-07-01T00:00:00Z"]
        ),
        (
            "10/20 0 * * *", "2026-01-01T00:00:00Z",
            ["2026-01-01T00:10:00Z", "2026-01-01T00:30:00Z", "2026-01-01T00:50:00Z"]
        ),
    ])
    func `a cron expression has the times that other parsers compute`(
        expression: String,
        start: String,
        times: [String]
    ) throws {
        #expect(try self.times(expression, after: start) == times)
    }

    @Test func `a time that daylight saving skips is moved to the end of the gap`() throws {
        // In Oslo, 2026-03-29 has no time from 02:00 to 03:00.
        #expect(
            try self.times("30 2 * * *", in: "Europe/Oslo", after: "2026-03-27T12:00:00Z") == [
                "2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00",
            ]
        )
    }

    @Test func `a time that daylight saving repeats counts once`() throws {
        // In Oslo, 2026-10-25 has the time from 02:00 to 03:00 twice.
        #expect(
            try self.times("30 2 * * *", in: "Europe/Oslo", after: "2026-10-24T12:00:00Z") == [
                "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00", "2026-10-27T02:30:00+01:00",
            ]
        )
    }

    @Test func `cron times work in a zone with half an hour, and in a zone that skipped a day`() throws {
        #expect(
            try self.times("0 6 * * *", in: "Asia/Kolkata", after: "2026-01-01T00:00:00Z", count: 1)
                == ["2026-01-01T06:00:00+05:30"]
        )
        // In Apia, 2011-12-30 did not exist.
        #expect(
            try self.times("0 12 * * *", in: "Pacific/Apia", after: "2011-12-29T00:00:00Z", count: 3) == [
                "2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00",
            ]
        )
    }

    @Test(arguments: [
        ("", "0 fields"), ("* * * *", "4 fields"), ("60 * * * *", "0 to 59"), ("* 24 * * *", "0 to 23"),
        ("* * 0 * *", "1 to 31"), ("* * * 13 *", "1 to 12"), ("* * * * 8", "0 to 7"),
        ("5-1 * * * *", "range"),
        ("*/0 * * * *", "step"), ("*/x * * * *", "step"), ("1,,2 * * * *", "0 to 59"),
        ("a * * * *", "0 to 59"),
        ("-1 * * * *", "0 to 59"), ("1-2-3 * * * *", "0 to 59"), ("* * * foo *", "1 to 12"),
        ("0 0 30 2 *", "no date"),
    ])
    func `an invalid cron expression is rejected with the reason`(expression: String, reason: String) throws {
        let error = try #require(throws: DurableError.self) { _ = try DurableRule.cron(expression) }
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains(reason), "\(error.message)")
    }

    @Test func `the next time of a frequent rule takes few look-ups of the offset from UTC`() throws {
        var lookUps = 0
        let calendar = CronCalendar { _ in
            lookUps += 1
            return 3_600
        }
        let next = calendar.next(of: try CronExpression("* * * * *"), after: 1_000_000_000)
        #expect(next == 1_000_000_020)
        #expect(lookUps < 1_000)
    }

    @Test func `an unknown time zone is rejected`() throws {
        #expect(throws: DurableError.self) { _ = try DurableRule.cron("* * * * *", in: "Europe/Atlantis") }
    }

    @Test func `the dates of cron expressions agree with Foundation's calendar`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0)!
        let utc = CronCalendar { _ in 0 }
        // The calendar of Foundation is Julian before 1582-10-15.
        for day in stride(from: -141_400, to: 200_000, by: 37) {
            let midnight = day * 86_400
            let date = Date(timeIntervalSince1970: Double(midnight))
            let parts = calendar.dateComponents([.month, .day, .weekday], from: date)
            let (month, dayOfMonth) = (try #require(parts.month), try #require(parts.day))
            let weekday = try #require(parts.weekday) - 1
            for fields in ["\(dayOfMonth) \(month) *", "* \(month) \(weekday)"] {
                let next = utc.next(of: try CronExpression("0 0 \(fields)"), after: midnight - 1)
                #expect(next == midnight)
            }
        }
    }
}
#endif

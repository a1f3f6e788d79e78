#if Durable
internal import Foundation
internal import Logging
internal import WaybillRouting

/// The times at which a schedule sends its message.
public struct DurableRule: Sendable {
    private enum Kind {
        case every(milliseconds: Int)
        case cron(CronExpression, TimeZone)
    }

    private let kind: Kind
    /// The rule as text, which the store compares with the text in the file to detect a changed rule.
    let text: String
    /// The name of the time zone; empty for an interval.
    let zone: String
    /// Whether the rule follows the wall clock even after the wall clock was set back.
    var followsWallClock: Bool { !self.zone.isEmpty }

    /// A rule that applies at intervals of at least 1 millisecond, counted from the first declaration of the
    /// schedule.
    public static func every(_ interval: Duration) -> DurableRule {
        let count = max(1, StoreClock.milliseconds(interval))
        return DurableRule(kind: .every(milliseconds: count), text: "every \(count) ms", zone: "")
    }

    /// A rule with the five fields of cron: minute, hour, day of the month, month, day of the week.
    ///
    /// The fields are separated by spaces. The name of the time zone is a name such as `Europe/Oslo`.
    /// A field is `*`, a number, a range `1-5`, or a list `1,15`. A `*` or a range can have a step: `*/10`.
    /// Months and weekdays can also be English names of three letters. 0 and 7 are Sunday. When both the day
    /// of the month and the weekday are restricted, a date that matches either of them matches, as in cron.
    ///
    /// When clocks are set forward, a time that does not exist on that day is replaced by the first instant
    /// after the gap. When clocks are set back, a time that occurs twice on that day applies only at its
    /// first occurrence.
    ///
    /// - Throws: `invalidArgument` if a field or the time zone is invalid, or if no date matches.
    public static func cron(_ expression: String, in zone: String = "UTC") throws(DurableError) -> DurableRule
    {
        let fields = try CronExpression(expression)
        guard let timeZone = TimeZone(identifier: zone) else {
            let message = "\(zone) is not a known time zone; use a name such as Europe/Oslo, or UTC"
            throw DurableError(.invalidArgument, message: message)
        }
        let rule = DurableRule(kind: .cron(fields, timeZone), text: fields.text, zone: zone)
        if rule.next(after: StoreClock.wallTime) < .max { return rule }
        let message = "no date in the next 40 years matches \(expression)"
        throw DurableError(.invalidArgument, message: message)
    }

    /// Returns the first time after a given time, in milliseconds since 1970.
    ///
    /// Intervals are counted from `start`, which must not be later than `time`, or from `time`.
    func next(after time: Int, from start: Int? = nil) -> Int {
        switch self.kind {
        case .every(let interval):
            let start = start ?? time
            return start + ((time - start) / interval + 1) * interval
        case .cron(let expression, let zone):
            let second = Int((Double(time) / 1_000).rounded(.down))
            let calendar = CronCalendar { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
            let next = calendar.next(of: expression, after: second)
            // Each date of a rule occurs again within the years that the calendar searches.
            return next.map { $0 * 1_000 } ?? .max
        }
    }
}

extension DurableRule {
    /// Creates a rule from the columns of a stored schedule; nil if the columns are not valid.
    init?(storedAs text: String, in zone: String) {
        let words = text.split(separator: " ")
        if words.count == 3, words[0] == "every", let milliseconds = Int(words[1]), milliseconds > 0 {
            self = .every(.milliseconds(milliseconds))
        } else if let rule = try? DurableRule.cron(text, in: zone) {
            self = rule
        } else {
            return nil
        }
    }

    /// Returns the number of messages that are sent now for past times, and the first time after now.
    func missed(from first: Int, to now: Int, misfire: DurableMisfire) -> (count: Int, following: Int) {
        var count = 1
        switch misfire {
        case .once: break
        case .skip:
            let recent = now - 60_000
            if first < recent, self.next(after: recent - 1, from: first) > now { count = 0 }
        case .each:
            var time = self.next(after: first, from: first)
            while time <= now, count < 1_000 {
                count += 1
                time = self.next(after: time, from: first)
            }
        }
        return (count, self.next(after: now, from: first))
    }
}

/// The policy of a schedule for times that passed while the process did not run.
public enum DurableMisfire: String, Sendable {
    /// The message is sent once, however many times have passed.
    case once
    /// The message is sent once if the last of these times was at most a minute ago.
    case skip
    /// A message is sent for each time that has passed, at most 1,000.
    case each
}

/// A schedule in the file of a store.
public struct DurableSchedule: Sendable, Codable {
    /// The name.
    public let name: String
    /// The URL to which the schedule's messages are sent.
    public let url: String
    /// The rule, as text.
    public let rule: String
    /// The next time at which a message is sent, in milliseconds since 1970.
    public let next: Int
}

extension DurableStore {
    /// Declares a schedule, which sends a durable message at each time of a rule.
    ///
    /// A program declares its schedules each time it starts. If the file already contains a schedule with
    /// this name and rule, the schedule keeps its next time. A schedule stays in the file until
    /// ``unschedule(_:)`` removes it. It sends messages only while the store is attached to a bus. The
    /// messages have `parameters`, which must be `Encodable`, in addition to the parameters in the URL.
    ///
    /// - Throws: ``/WaybillRouting/RoutingError`` with `invalidURL` or `notTransferable`; ``DurableError``.
    public func schedule(
        _ name: String,
        _ url: String,
        _ rule: DurableRule,
        parameters: [String: any Sendable] = [:],
        misfire: DurableMisfire = .once
    ) async throws {
        _ = try self.engine.settings.policies.lane(of: url)
        let details = MessageDetails(parameters: parameters, headers: ["waybill-schedule": name])
        let encoded = try details.encoded(for: url)
        try await self.engine.perform { batch in
            batch.schedulesChanged = true
            let now = rule.followsWallClock ? StoreClock.wallTime : batch.now
            // A wall clock that was a year ahead must not stop the schedule for a year, so a later next
            // time is replaced. After a correction of an hour, the schedule sends no message again.
            try batch.database.execute(
                """
                INSERT INTO waybill_schedules (name, url, details, rule, zone, misfire, next)
                VALUES (?,?,?,?,?,?,?) ON CONFLICT (name) DO UPDATE SET
                url = excluded.url, details = excluded.details, misfire = excluded.misfire,
                next = iif(rule = excluded.rule AND zone = excluded.zone AND next <= ?, next, excluded.next),
                rule = excluded.rule, zone = excluded.zone
                """,
                [
                    name, url, encoded, rule.text, rule.zone, misfire.rawValue, rule.next(after: now),
                    rule.next(after: now + 3_600_000),
                ]
            )
        }
    }

    /// Removes a schedule, and returns whether the store had a schedule with this name.
    @discardableResult
    public func unschedule(_ name: String) async throws -> Bool {
        try await self.engine.perform { batch in
            batch.schedulesChanged = true
            try batch.database.execute("DELETE FROM waybill_schedules WHERE name = ?", [name])
            return batch.database.changes > 0
        }
    }

    /// The schedules of the store, in the order of their names.
    public func schedules() async throws -> [DurableSchedule] {
        try await self.engine.perform { batch in
            let select = try batch.database.prepare(
                "SELECT name, url, rule, zone, next FROM waybill_schedules ORDER BY name"
            )
            return try select.rows { row in
                let zone = row.text(3).flatMap { $0.isEmpty ? nil : " \($0)" } ?? ""
                return DurableSchedule(
                    name: row.text(0) ?? "",
                    url: row.text(1) ?? "",
                    rule: (row.text(2) ?? "") + zone,
                    next: row.int(4)
                )
            }
        }
    }
}

/// The times of a store's schedules that the ``StoreState`` contains.
struct ScheduleTable {
    /// The first time at which a schedule sends a message; nil if the store has no schedules.
    private(set) var next: Int?
    /// The milliseconds by which the store's clock was ahead of the wall clock when ``next`` was read.
    private(set) var lead = 0

    /// Reads the first time from the file; `lead` is added to cron times, which follow the wall clock.
    mutating func readNext(_ database: Database, lead: Int = 0) throws(DurableError) {
        let minimum = try database.prepare(
            """
            SELECT min(next + iif(zone = '', 0, ?)) FROM waybill_schedules
            WHERE typeof(next) IN ('integer', 'real')
            """
        )
        self.next = try minimum.first([lead]) { $0.optionalAmount(0) }
        self.lead = lead
    }
}

extension Batch {
    /// Sends the messages of the due schedules, and writes their next times in the same transaction.
    ///
    /// While the store is not attached to a bus, no messages are sent.
    func fireSchedules() throws {
        let lead = max(0, self.now - StoreClock.wallTime)
        // Read the time again when the wall clock was set forward.
        if self.schedulesChanged || lead < self.state.schedules.lead - 1_000 {
            try self.state.schedules.readNext(self.database, lead: lead)
        }
        guard self.state.lanes.isDelivering, let first = self.state.schedules.next, first <= self.now
        else { return }
        let select = try self.database.prepare(
            "SELECT name, url, details, rule, zone, misfire, next FROM waybill_schedules WHERE next <= ?"
        )
        let due = try select.rows([self.now]) { row in
            (
                name: row.text(0) ?? "", url: row.text(1) ?? "", details: row.text(2),
                rule: row.text(3) ?? "", zone: row.text(4) ?? "",
                misfire: DurableMisfire(rawValue: row.text(5) ?? "") ?? .once, next: row.amount(6)
            )
        }
        let update = try self.database.prepare("UPDATE waybill_schedules SET next = ? WHERE name = ?")
        for entry in due {
            // The text was written by a rule, but this system possibly does not know the time zone, or
            // somebody edited the file.
            guard let rule = DurableRule(storedAs: entry.rule, in: entry.zone) else {
                let message: Logger.Message =
                    "a schedule is dropped because its rule cannot be read; declare it again"
                let (name, rule, zone) = (entry.name, entry.rule, entry.zone)
                self.errors.append((message, ["schedule": "\(name)", "rule": "\(rule)", "zone": "\(zone)"]))
                try self.database.run("DELETE FROM waybill_schedules WHERE name = ?", [entry.name])
                continue
            }
            let now = rule.followsWallClock ? self.now - lead : self.now
            guard entry.next <= now else { continue }
            let (count, following) = rule.missed(from: entry.next, to: now, misfire: entry.misfire)
            let lane = self.settings.policies.lane(ofStored: entry.url)
            let message = StoredMessage(url: entry.url, details: entry.details, lane: lane)
            do {
                for _ in 0..<count {
                    self.isFull = nil
                    _ = try self.send(message)
                }
            } catch let error as DurableError where error.code == .sizeLimitReached {
                let metadata: Logger.Metadata = ["schedule": "\(entry.name)", "error": "\(error)"]
                self.errors.append(("a schedule could not send its message", metadata))
            }
            try update.run([following, entry.name])
        }
        try self.state.schedules.readNext(self.database, lead: lead)
    }
}
#endif

#if Durable
internal import Foundation

/// The times at which a schedule sends its message.
public struct DurableRule: Sendable {
    enum Kind: Sendable {
        case every(milliseconds: Int)
        case cron(CronExpression, TimeZone)
    }

    let kind: Kind
    /// The rule as text, which the store compares with the text in the file to detect a changed rule.
    let text: String
    let zone: String

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

/// The policy of a schedule for times that passed while the process did not run.
public enum DurableMisfire: String, Sendable {
    /// The message is sent once, however many times have passed.
    case once
    /// The message is sent once if the last of these times was at most a minute ago.
    case skip
    /// A message is sent for each time that has passed, at most 1,000.
    case each
}
#endif

#if Durable
internal import Foundation

/// The five fields of a cron expression.
struct CronExpression: Sendable, Equatable {
    let text: String
    let minutes, hours, days, months, weekdays: Set<Int>
    /// Whether it suffices that the day of the month or the weekday matches, as both are restricted.
    let matchesEitherDay: Bool

    /// Parses an expression; the error contains the invalid field.
    init(_ text: String) throws(DurableError) {
        let fields = text.split(whereSeparator: \.isWhitespace)
        guard fields.count == 5 else {
            let message =
                "the cron expression \"\(text)\" has \(fields.count) fields; it needs 5: minute, hour, day of the "
                + "month, month, day of the week"
            throw DurableError(.invalidArgument, message: message)
        }
        self.text = fields.joined(separator: " ")
        let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        self.minutes = try Field(name: "minute", range: 0...59).values(of: fields[0])
        self.hours = try Field(name: "hour", range: 0...23).values(of: fields[1])
        self.days = try Field(name: "day", range: 1...31).values(of: fields[2])
        self.months = try Field(name: "month", range: 1...12, names: months).values(of: fields[3])
        let days = try Field(name: "weekday", range: 0...7, names: weekdays).values(of: fields[4])
        self.weekdays = Set(days.map { $0 % 7 })
        // In cron, a field that begins with `*` counts as unrestricted, even if it has a step.
        self.matchesEitherDay = !fields[2].hasPrefix("*") && !fields[4].hasPrefix("*")
    }

    /// Returns whether the expression has times on a date, which has a month, a day and a weekday.
    func matches(_ date: DateComponents) -> Bool {
        guard let month = date.month, let day = date.day, let weekday = date.weekday else { return false }
        // Foundation counts weekdays from 1, and cron from 0.
        let (isDay, isWeekday) = (self.days.contains(day), self.weekdays.contains(weekday - 1))
        let matchesDay = self.matchesEitherDay ? isDay || isWeekday : isDay && isWeekday
        return self.months.contains(month) && matchesDay
    }

    private struct Field {
        let name: String
        let range: ClosedRange<Int>
        /// The names of the values, from the first value of the range.
        var names: [String] = []

        func values(of text: Substring) throws(DurableError) -> Set<Int> {
            var values: Set<Int> = []
            for item in text.split(separator: ",", omittingEmptySubsequences: false) {
                values.formUnion(try self.values(ofItem: item))
            }
            return values
        }

        private func values(ofItem item: Substring) throws(DurableError) -> Set<Int> {
            let parts = item.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            var range = self.range
            if parts[0] != "*" {
                let bounds = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
                let first = try self.number(bounds[0], in: item)
                // `5/10` means "from 5 to the end in steps of 10".
                let last = bounds.count == 2 ? try self.number(bounds[1], in: item) : nil
                let end = last ?? (parts.count == 2 ? self.range.upperBound : first)
                guard first <= end else { throw self.error(item, "the range ends before it begins") }
                range = first...end
            }
            guard parts.count == 2 else { return Set(range) }
            guard let step = Int(parts[1]), step > 0, !parts[1].hasPrefix("+") else {
                throw self.error(item, "the step must be a positive number")
            }
            return Set(stride(from: range.lowerBound, through: range.upperBound, by: step))
        }

        private func number(_ text: Substring, in item: Substring) throws(DurableError) -> Int {
            let range = self.range
            if let index = self.names.firstIndex(of: text.lowercased()) { return range.lowerBound + index }
            let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard isNumber, let number = Int(text), range.contains(number) else {
                throw self.error(item, "use numbers from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }

        private func error(_ item: Substring, _ remedy: String) -> DurableError {
            let message = "the cron field for the \(self.name) has \"\(item)\": \(remedy)"
            return DurableError(.invalidArgument, message: message)
        }
    }
}

/// The times of cron expressions in a time zone, in seconds since 1970.
struct CronCalendar {
    /// Returns the offset of the local time from UTC at a time, in seconds.
    let offset: (Int) -> Int

    private static let secondsPerDay = 86_400
    /// A calendar in which each day has the same number of seconds.
    private static let dates: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// Returns the first time of an expression after a given time; nil if the next 40 years contain none.
    func next(of expression: CronExpression, after time: Int) -> Int? {
        let local = time + self.offset(time)
        let firstDay = Int((Double(local) / Double(Self.secondsPerDay)).rounded(.down))
        // Begin with the previous day: if the offset has changed, a time of that day is possibly later. A
        // leap day on a given weekday occurs at least once in 40 years.
        for day in firstDay - 1...firstDay + 40 * 366 {
            let midnight = day * Self.secondsPerDay
            let date = Date(timeIntervalSince1970: Double(midnight))
            guard expression.matches(Self.dates.dateComponents([.month, .day, .weekday], from: date)) else {
                continue
            }
            for hour in expression.hours.sorted() {
                let local = midnight + hour * 3_600
                // A later local time never has an earlier time, so skip the hours that have passed.
                guard self.time(ofLocal: local + 3_599) > time else { continue }
                for minute in expression.minutes.sorted() {
                    let found = self.time(ofLocal: local + minute * 60)
                    if found > time { return found }
                }
            }
        }
        return nil
    }

    /// Returns the first time at which clocks show a local time, or the end of the gap if clocks skip it.
    private func time(ofLocal local: Int) -> Int {
        // The offsets before and after a possible change of the clock near the local time.
        let before = self.offset(local - Self.secondsPerDay)
        let after = self.offset(local + Self.secondsPerDay)
        let candidates = [local - max(before, after), local - min(before, after)]
        if let time = candidates.first(where: { $0 + self.offset($0) == local }) { return time }
        // Clocks skip the local time. Find the time of the change between the two candidates.
        var (low, high) = (candidates[0], candidates[1])
        while low < high {
            let middle = low + (high - low) / 2
            if middle + self.offset(middle) >= local { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
#endif

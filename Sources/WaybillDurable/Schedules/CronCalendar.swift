#if Durable
/// The parts of a date of the Gregorian calendar that the fields of a cron expression restrict.
struct CivilDate {
    let month, day: Int
    /// The day of the week, where 0 is Sunday.
    let weekday: Int

    init(daysSince1970 days: Int) {
        self.weekday = ((days + 4) % 7 + 7) % 7
        // Count years from March, so that the leap day is the last day of a year.
        let days = days + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * month + 2) / 5 + 1
        self.month = month < 10 ? month + 3 : month - 9
    }
}

/// The times of cron expressions in a time zone, in seconds since 1970.
struct CronCalendar {
    /// Returns the offset of the local time from UTC at a time, in seconds.
    let offset: (Int) -> Int

    private static let secondsPerDay = 86_400
    /// The number of days that are searched: a leap day on a given weekday occurs at least once in 40 years.
    private static let horizon = 40 * 366

    /// Returns the first time of an expression after a given time; nil if the next 40 years contain none.
    func next(of expression: CronExpression, after time: Int) -> Int? {
        let local = time + self.offset(time)
        let firstDay = Int((Double(local) / Double(Self.secondsPerDay)).rounded(.down))
        // Begin with the previous day: if the offset has changed, a time of that day is possibly later than
        // `time`.
        for day in firstDay - 1...firstDay + Self.horizon
        where expression.matches(CivilDate(daysSince1970: day)) {
            for hour in expression.hours.sorted() {
                let local = day * Self.secondsPerDay + hour * 3_600
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

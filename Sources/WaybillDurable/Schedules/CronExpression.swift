#if Durable
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
            throw DurableError(
                .invalidArgument,
                message:
                    "the cron expression \"\(text)\" has \(fields.count) fields; it needs 5: minute, hour, "
                    + "day of the month, month, day of the week"
            )
        }
        self.text = fields.joined(separator: " ")
        self.minutes = try Field.minute.values(of: fields[0])
        self.hours = try Field.hour.values(of: fields[1])
        self.days = try Field.day.values(of: fields[2])
        self.months = try Field.month.values(of: fields[3])
        let weekdays = try Field.weekday.values(of: fields[4])
        self.weekdays = Set(weekdays.map { $0 % 7 })
        // In cron, a field that begins with `*` counts as unrestricted, even if it has a step.
        self.matchesEitherDay = !fields[2].hasPrefix("*") && !fields[4].hasPrefix("*")
    }

    func matches(_ date: CivilDate) -> Bool {
        guard self.months.contains(date.month) else { return false }
        let isDay = self.days.contains(date.day)
        let isWeekday = self.weekdays.contains(date.weekday)
        return self.matchesEitherDay ? isDay || isWeekday : isDay && isWeekday
    }

    private enum Field: String {
        case minute, hour, day, month, weekday

        var range: ClosedRange<Int> {
            switch self {
            case .minute: 0...59
            case .hour: 0...23
            case .day: 1...31
            case .month: 1...12
            case .weekday: 0...7
            }
        }

        var names: [String] {
            switch self {
            case .minute, .hour, .day: []
            case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
            case .weekday: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
            }
        }

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
            if let index = self.names.firstIndex(of: text.lowercased()) {
                return self == .month ? index + 1 : index
            }
            let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard isNumber, let number = Int(text), self.range.contains(number) else {
                throw self.error(
                    item,
                    "use numbers from \(self.range.lowerBound) to \(self.range.upperBound)"
                )
            }
            return number
        }

        private func error(_ item: Substring, _ remedy: String) -> DurableError {
            DurableError(
                .invalidArgument,
                message: "the cron field for the \(self) has \"\(item)\": \(remedy)"
            )
        }
    }
}
#endif

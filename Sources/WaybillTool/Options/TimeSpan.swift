#if Tool
internal import ArgumentParser

/// A duration on the command line, such as `250ms`, `1.5s` or `3m`; a number without a unit is in seconds.
struct TimeSpan: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        let number = argument.prefix { $0.isNumber || $0 == "." }
        guard let value = Double(number), value < 1e9 else { return nil }
        switch argument[number.endIndex...] {
        case "ms": self.duration = .milliseconds(value)
        case "s", "": self.duration = .seconds(value)
        case "m": self.duration = .seconds(value * 60)
        default: return nil
        }
    }
}
#endif

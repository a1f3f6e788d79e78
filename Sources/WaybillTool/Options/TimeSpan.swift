#if Tool
internal import ArgumentParser

/// A duration as a command line has it: `250ms`, `2s`, `1.5s`, `3m`; a number alone is seconds.
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

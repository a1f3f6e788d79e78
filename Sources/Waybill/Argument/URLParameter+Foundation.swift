#if Foundation

public import FoundationEssentials

/// A point in time in ISO 8601: `2026-11-21T08:30:00Z`, with or without fractions of a second.
extension Date: URLParameter {
    public init?(urlParameter: String) {
        let hasFraction = urlParameter.contains(".")
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
        guard let date = try? style.parse(urlParameter) else { return nil }
        self = date
    }

    public var urlParameter: String {
        let hasFraction = self.timeIntervalSinceReferenceDate.truncatingRemainder(dividingBy: 1) != 0
        return self.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
    }
}

extension UUID: URLParameter {
    public init?(urlParameter: String) { self.init(uuidString: urlParameter) }

    public var urlParameter: String { self.uuidString }
}

extension URL: URLParameter {
    public init?(urlParameter: String) { self.init(string: urlParameter) }

    public var urlParameter: String { self.absoluteString }
}

#endif

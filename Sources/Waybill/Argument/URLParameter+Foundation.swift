#if Foundation

public import FoundationEssentials

/// A point in time in ISO 8601: `2026-11-21T08:30:00Z`, with or without fractions of a second.
extension Date: URLParameter {
    /// Reads a point in time in ISO 8601.
    public init?(urlParameter: String) {
        let hasFraction = urlParameter.contains(".")
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
        guard let date = try? style.parse(urlParameter) else { return nil }
        self = date
    }

    /// The point in time in ISO 8601, with a fraction of a second if it has one.
    public var urlParameter: String {
        let hasFraction = self.timeIntervalSinceReferenceDate.truncatingRemainder(dividingBy: 1) != 0
        return self.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
    }
}

extension UUID: URLParameter {
    /// Reads 8-4-4-4-12 hexadecimal digits, in either case.
    public init?(urlParameter: String) { self.init(uuidString: urlParameter) }

    /// The 8-4-4-4-12 hexadecimal digits.
    public var urlParameter: String { self.uuidString }
}

extension URL: URLParameter {
    /// Reads a URL, which is decoded: it stands percent-encoded inside the other one.
    public init?(urlParameter: String) { self.init(string: urlParameter) }

    /// The URL's text.
    public var urlParameter: String { self.absoluteString }
}

#endif

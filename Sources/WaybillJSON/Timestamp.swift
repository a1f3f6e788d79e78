internal import FoundationEssentials

/// Times of day, as RFC 3339 has them.
package enum Timestamp {
    /// The seconds since 1970 that a text says; nil if it is no time.
    package static func seconds(_ text: String) -> Double? {
        (try? Date.ISO8601FormatStyle().parse(text.uppercased()))?.timeIntervalSince1970
    }

    /// A time as text, in milliseconds.
    package static func text(_ seconds: Double) -> String {
        Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            .format(Date(timeIntervalSince1970: seconds))
    }

    /// The time now.
    package static var now: Double { Date().timeIntervalSince1970 }
}

internal import FoundationEssentials

/// Points in time, in the format of RFC 3339.
package enum Timestamp {
    /// Returns the number of seconds from 1970 to a time, or nil when the text is not a time.
    package static func seconds(_ text: String) -> Double? {
        (try? Date.ISO8601FormatStyle().parse(text.uppercased()))?.timeIntervalSince1970
    }

    /// Returns a time as text, with milliseconds.
    package static func text(_ seconds: Double) -> String {
        Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            .format(Date(timeIntervalSince1970: seconds))
    }

    /// The current time, in seconds since 1970.
    package static var now: Double { Date().timeIntervalSince1970 }
}

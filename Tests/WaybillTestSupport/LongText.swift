/// An argument of a test that may be too long for the log, which prints the arguments of each test.
package struct LongText: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable {
    package let text: String

    /// The most characters of a text that are printed.
    private static let limit = 60

    package init(stringLiteral text: String) { self.text = text }

    package var description: String {
        let isLong = self.text.utf8.count > Self.limit
        return isLong ? "\(self.text.prefix(Self.limit))... (\(self.text.utf8.count) bytes)" : self.text
    }
}

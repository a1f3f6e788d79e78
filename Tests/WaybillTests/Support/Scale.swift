internal import Foundation

/// How much work a test does: less where a sanitizer watches, since that makes it ten times slower.
enum Scale {
    static let isSanitized = ProcessInfo.processInfo.environment["WAYBILL_SANITIZER"] != nil

    /// A deadline that what takes no time meets on a busy machine, and that a test can wait for.
    static let whileQuick: Duration = Self.isSanitized ? .seconds(10) : .seconds(2)

    static func of(_ count: Int) -> Int { Self.isSanitized ? max(1, count / 10) : count }
}

internal import Foundation

/// How much work a test does: less where a sanitizer watches, since that makes it ten times slower.
enum Scale {
    static let isSanitized = ProcessInfo.processInfo.environment["WAYBILL_SANITIZER"] != nil

    static func of(_ count: Int) -> Int { Self.isSanitized ? max(1, count / 10) : count }
}

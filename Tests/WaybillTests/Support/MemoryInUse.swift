#if os(Linux)
internal import Foundation

/// How many bytes of memory the process has in use, where no sanitizer stands between.
func memoryInUse() -> Int? {
    guard !Scale.isSanitized,
        let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    else { return nil }
    return Int(pages[1]).map { $0 * 4096 }
}
#else
/// How many bytes of memory the process has in use: not known here.
func memoryInUse() -> Int? { nil }
#endif

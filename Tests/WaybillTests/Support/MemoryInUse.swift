#if os(Linux)
internal import Foundation
internal import Glibc

/// How many bytes of memory the process has in use, where no sanitizer stands between.
func memoryInUse() -> Int? {
    guard !Scale.isSanitized else { return nil }
    // What is free goes back to the system first; the header that says so is in no module.
    if let symbol = unsafe dlsym(nil, "malloc_trim") {
        let trim = unsafe unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
        _ = trim(0)
    }
    let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return pages.flatMap { Int($0[1]) }.map { $0 * 4096 }
}
#else
/// How many bytes of memory the process has in use: not known here.
func memoryInUse() -> Int? { nil }
#endif

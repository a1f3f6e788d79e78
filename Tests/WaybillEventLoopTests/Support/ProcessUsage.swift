#if os(Linux)
internal import Foundation
internal import Glibc

/// The present threads, descriptors and memory of this process.
struct ProcessUsage {
    let threads: Int
    let descriptors: Int
    let residentBytes: Int

    /// Whether a sanitizer runs.
    ///
    /// Its memory and time do not belong to the tested code.
    static var isSanitized: Bool {
        ["__tsan_init", "__asan_init"].contains { (symbol: String) in unsafe dlsym(nil, symbol) != nil }
    }

    static var now: ProcessUsage {
        get throws {
            let manager = FileManager.default
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            return ProcessUsage(
                threads: try manager.contentsOfDirectory(atPath: "/proc/self/task").count,
                descriptors: try manager.contentsOfDirectory(atPath: "/proc/self/fd").count,
                residentBytes: (Int(pages[1]) ?? 0) * 4096
            )
        }
    }

    /// Waits until the numbers of threads and descriptors are near earlier ones.
    ///
    /// Other tests may hold a few.
    static func settles(near before: ProcessUsage, tolerance: Int) async throws -> Bool {
        for _ in 0..<4000 {
            let now = try Self.now
            if now.threads <= before.threads + tolerance, now.descriptors <= before.descriptors + tolerance {
                return true
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        return false
    }
}
#endif

import Foundation
import WaybillTestSupport

/// Returns the seeds of today, which differ from the seeds of other days.
///
/// `WAYBILL_SOAK=1` makes a hundred times as many, and a greater number is the factor itself. The function prints
/// the first seed, so that a failure can be repeated on another day: with `WAYBILL_SEED`, that seed is the only one.
func seedsOfToday(_ count: Int) -> ClosedRange<UInt64> {
    if let seed = ProcessInfo.processInfo.environment["WAYBILL_SEED"].flatMap({ UInt64($0) }) {
        return seed...seed
    }
    let soak = ProcessInfo.processInfo.environment["WAYBILL_SOAK"].map { Int($0) ?? 1 }
    let factor = soak.map { $0 > 1 ? $0 : 100 } ?? 1
    let first = UInt64(Date().timeIntervalSince1970 / 86_400) * 1_000_000
    print("simulating from the seed \(first)")
    return first...first + UInt64(Scale.of(count) * factor) - 1
}

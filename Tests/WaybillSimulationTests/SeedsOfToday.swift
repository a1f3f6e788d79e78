import Foundation
import WaybillTestSupport

/// Returns the seeds of today, which differ from the seeds of other days.
///
/// `WAYBILL_SOAK` makes a hundred times as many. The first seed is printed, so that a failure can be repeated on
/// another day: `WAYBILL_SEED` is the only seed then.
func seedsOfToday(_ count: Int) -> ClosedRange<UInt64> {
    if let seed = ProcessInfo.processInfo.environment["WAYBILL_SEED"].flatMap({ UInt64($0) }) {
        return seed...seed
    }
    let isLong = ProcessInfo.processInfo.environment["WAYBILL_SOAK"] != nil
    let first = UInt64(Date().timeIntervalSince1970 / 86_400) * 1_000_000
    print("simulating from the seed \(first)")
    return first...first + UInt64(Scale.of(count) * (isLong ? 100 : 1)) - 1
}

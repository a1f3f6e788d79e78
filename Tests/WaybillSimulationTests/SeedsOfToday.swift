import Foundation
import WaybillTestSupport

/// Returns the seeds of today, which differ from the seeds of other days.
///
/// `WAYBILL_SOAK` makes a hundred times as many. The first seed is printed, so that a failure can be repeated on
/// another day.
func seedsOfToday(_ count: Int) -> ClosedRange<UInt64> {
    let isLong = ProcessInfo.processInfo.environment["WAYBILL_SOAK"] != nil
    let first = UInt64(Date().timeIntervalSince1970 / 86_400) * 1_000_000
    print("simulating from the seed \(first)")
    return first...first + UInt64(Scale.of(count) * (isLong ? 100 : 1)) - 1
}

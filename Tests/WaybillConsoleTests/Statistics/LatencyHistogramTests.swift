#if HTTP
import Testing

@testable import WaybillConsole

@Suite
struct LatencyHistogramTests {
    @Test
    func `the histogram's quantiles are within seven percent of the sorted values`() {
        var generator = SystemRandomNumberGenerator()
        var values: [Int] = []
        var histogram = LatencyHistogram()
        for _ in 0..<20_000 {
            let value = Int.random(
                in: 1..<(1 << Int.random(in: 1...26, using: &generator)),
                using: &generator
            )
            values.append(value)
            histogram.add(.microseconds(value))
        }
        values.sort()
        for share in [0.01, 0.25, 0.5, 0.9, 0.99, 1.0] {
            let exact = values[max(0, Int((share * 20_000).rounded(.up)) - 1)]
            let found = histogram.quantile(share) ?? 0
            #expect(found >= exact && Double(found) <= Double(exact) * 1.07 + 1, "\(share)")
        }
        #expect(histogram.powersOfTwo.reduce(0) { $0 + $1.count } == 20_000)
        #expect(histogram.powersOfTwo.map(\.upper) == histogram.powersOfTwo.map(\.upper).sorted())
    }

    @Test
    func `the histogram counts very short and very long durations`() {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil)
        histogram.add(.zero)
        histogram.add(.seconds(-1))
        histogram.add(.seconds(1_000_000_000))
        #expect(histogram.total == 3 && histogram.quantile(0.5) == 0)
    }
}
#endif

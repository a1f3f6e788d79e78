/// The results of the rounds of a subject, for one iteration.
public struct Samples: Sendable {
    let median: Double
    let low: Double
    let high: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        precondition(!sorted.isEmpty, "a figure has at least one round")
        let middle = sorted.count / 2
        self.median =
            sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        self.low = sorted[0]
        self.high = sorted[sorted.count - 1]
    }
}

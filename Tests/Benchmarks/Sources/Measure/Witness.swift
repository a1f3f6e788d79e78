/// A measure of how much the machine disturbs a run: the time of a subject that does not change, divided by
/// its time on a quiet machine.
///
/// The witness is measured between the figures, so that the same load affects both.
public struct Witness: Sendable {
    private let subject: Subject
    private let iterations: Int
    private let quiet: Double
    private var values: [Double] = []

    /// Creates a witness without a measurement.
    ///
    /// - Parameters:
    ///   - subject: The measured subject.
    ///   - iterations: The number of iterations of a measurement.
    ///   - quiet: The nanoseconds of an iteration on a quiet machine.
    public init(_ subject: Subject, iterations: Int, quiet: Double) {
        self.subject = subject
        self.iterations = iterations
        self.quiet = quiet
    }

    /// Measures the subject once more.
    public mutating func measure() async throws {
        let time = try await self.subject.run(self.iterations)
        self.values.append(Double(time) / Double(self.iterations))
    }

    /// The line below a table.
    public var line: String {
        let samples = Samples(self.values)
        let times = [samples.median, samples.low, samples.high].map { Unit.nanoseconds.text($0) }
        let factor = Format.number(samples.median / self.quiet, digits: 2)
        return "witness: \(self.subject.name), \(times[0]) ns (\(times[1]) - \(times[2])), "
            + "\(factor) x the \(Unit.nanoseconds.text(self.quiet)) ns of a quiet machine"
    }

    /// The witness as a JSON object on one line.
    public var json: String {
        let samples = Samples(self.values)
        let factor = (samples.median / self.quiet * 1000).rounded() / 1000
        return "{\"witness\": \"\(self.subject.name)\", \"ns\": \(samples.median.rounded()), "
            + "\"quiet_ns\": \(self.quiet), \"factor\": \(factor)}"
    }
}

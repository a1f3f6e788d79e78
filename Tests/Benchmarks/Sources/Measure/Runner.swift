internal import CMeasure

/// Measures the times of figures.
///
/// The runner is not a benchmark package, because a figure and its peer must take turns (A B A B), so that
/// other load affects both. Whole rounds are repeated, and the median is used. The subjects are asynchronous,
/// switch to event loops, and measure their time there.
public struct Runner: Sendable {
    private let rounds: Int
    private let sampleTime: UInt64

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - rounds: The number of turns of a figure and its peer.
    ///   - sampleTime: The minimum duration of one turn in nanoseconds.
    public init(rounds: Int, sampleTime: UInt64) {
        self.rounds = rounds
        self.sampleTime = sampleTime
    }

    /// Measures one figure.
    ///
    /// The function is on no actor, because asynchronous code on the default executor would otherwise hop
    /// there for each call.
    @concurrent
    public func measure(_ figure: Figure) async throws -> Result {
        switch figure.kind {
        case .timed(let subject, let peer):
            return try await self.time(figure, subject, peer)
        case .counted(let rounds, let count):
            var values: [Double] = []
            for _ in 0..<rounds { values.append(try await count()) }
            return Result(figure: figure, value: Samples(values), peer: nil)
        }
    }

    private func time(_ figure: Figure, _ subject: Subject, _ peer: Subject?) async throws -> Result {
        if figure.isOnOneCore { measure_stay_on_one_core(true) }
        defer { if figure.isOnOneCore { measure_stay_on_one_core(false) } }
        // Finding out how many iterations fill a turn also warms up.
        let iterations = try await self.iterations(of: subject)
        let peerIterations = if let peer { try await self.iterations(of: peer) } else { 0 }
        var values: [Double] = []
        var peerValues: [Double] = []
        for _ in 0..<self.rounds {
            values.append(Double(try await subject.run(iterations)) / Double(iterations))
            if let peer {
                peerValues.append(Double(try await peer.run(peerIterations)) / Double(peerIterations))
            }
        }
        return Result(
            figure: figure,
            value: Samples(values),
            peer: peer.map { ($0.name, Samples(peerValues)) }
        )
    }

    private func iterations(of subject: Subject) async throws -> Int {
        if let iterations = subject.iterations {
            _ = try await subject.run(iterations)
            return iterations
        }
        var iterations = 1
        while true {
            // Use the quicker of two runs. A cold or disturbed run would end the search with too few
            // iterations.
            let time = min(try await subject.run(iterations), try await subject.run(iterations))
            if time >= self.sampleTime { return iterations }
            // Approach the number in steps, because the first runs are slower than the rest.
            let factor = Double(self.sampleTime) / Double(max(time, 1)) * 1.2
            iterations = max(iterations + 1, Int(Double(iterations) * min(factor, 8)))
        }
    }
}

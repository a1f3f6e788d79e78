internal import WaybillEventLoop
internal import WaybillRouting

/// A source of random numbers that yields the same numbers for the same seed, in every process.
///
/// It is a `RandomNumberGenerator` with reference semantics, so a copy continues the sequence of its
/// original.
public final class SimulationRandom: RandomNumberGenerator, Sendable {
    private let generator: Locked<SeededGenerator>

    /// Creates a source.
    ///
    /// - Parameter seed: Any number; equal seeds yield equal sequences.
    public init(seed: UInt64) { self.generator = Locked(SeededGenerator(seed: seed)) }

    /// Returns the next number of the sequence.
    public func next() -> UInt64 { self.generator.withLock { $0.next() } }

    /// Returns a random element of a collection, which must not be empty.
    public func pick<Elements: Collection>(_ elements: Elements) -> Elements.Element {
        precondition(!elements.isEmpty, "`pick` needs a collection that is not empty")
        let offset = self.int(in: 0...elements.count - 1)
        return elements[elements.index(elements.startIndex, offsetBy: offset)]
    }

    /// Returns a random whole number of a range.
    public func int(in range: ClosedRange<Int>) -> Int {
        var generator = self
        return Int.random(in: range, using: &generator)
    }

    /// Returns a random duration of a range, in whole milliseconds.
    public func duration(in range: ClosedRange<Duration>) -> Duration {
        .milliseconds(self.int(in: range.lowerBound.milliseconds...range.upperBound.milliseconds))
    }

    /// Returns true with a probability from 0 to 1.
    public func bool(odds: Double = 0.5) -> Bool {
        Double(self.next() >> 11) * 0x1p-53 < odds
    }

    /// Returns another source, for a part of a simulation.
    func derived(_ number: Int) -> SimulationRandom {
        let seed =
            self.generator.withLock { $0.state }
            ^ (UInt64(truncatingIfNeeded: number) &* 0xd134_2543_de82_ef95)
        return SimulationRandom(seed: SimulationRandom(seed: seed).next())
    }
}

extension Duration {
    /// The whole nanoseconds of the duration.
    var nanoseconds: Int128 { self.attoseconds / 1_000_000_000 }

    /// The whole milliseconds of the duration.
    var milliseconds: Int {
        let (seconds, attoseconds) = self.components
        let (product, overflows) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000)
        return overflows ? .max / 2 : product + Int(attoseconds / 1_000_000_000_000_000)
    }
}
